"""python manage.py import_pairs PATH --format personafeedback|pandalm|jsonl"""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.imports import records
from annotation.management.imports import ImportCommand
from core.accounts.models.projects import Project
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument
from judging.runs.imports import pandalm


class Command(ImportCommand):
    makes_roots = True
    help = "Import response pairs; PandaLM's test set brings people's choices and judges' verdicts with it."
    example = "import_pairs ../PersonaFeedback --format personafeedback"
    path_help = "the folder of the data set, or the JSONL file"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument("--format", choices=["personafeedback", "pandalm", "jsonl"], required=True)
        parser.add_argument(
            "--source", default=records.SOURCE, help="whose ids these are, for JSONL (default: %(default)s)"
        )
        parser.add_argument(
            "--attachments", type=Path, metavar="FOLDER", help="where pictures and sounds lie, for JSONL"
        )

    def run(
        self, *, path: Path, format: str, source: str, attachments: Path | None, on_error: OnError,
        project: Project | None, **_: object,
    ) -> ImportDocument:  # fmt: skip
        if format == "personafeedback":
            return personafeedback.load(by=None, folder=path, on_error=on_error, project=project).to_document()
        if format == "pandalm":
            return pandalm.load(by=None, folder=path, on_error=on_error, project=project).to_document()
        file = InputFile.from_path(path)
        outcome = records.load(
            by=None, kind="pairs", file=file, source=source, on_error=on_error, attachments=attachments
        )
        return outcome.to_document()
