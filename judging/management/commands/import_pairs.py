"""python manage.py import_pairs PATH --format personafeedback|pandalm|jsonl"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.imports import records
from annotation.management.imports import ImportCommand
from core.files.input_files import InputFile
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

    def run(self, **options: Any) -> object:
        path, more = options["path"], {"by": None, "on_error": options["on_error"]}
        if options["format"] == "personafeedback":
            outcome = personafeedback.load(folder=path, **more)
        elif options["format"] == "pandalm":
            outcome = pandalm.load(folder=path, **more)
        else:
            more |= {"source": options["source"], "attachments": options["attachments"]}
            outcome = records.load(kind="pairs", file=InputFile.from_path(path), **more)
        return outcome.to_document()
