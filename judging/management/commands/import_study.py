"""python manage.py import_study PATH --format labelstudio|argilla|potato|doccano|votes|inspect|hf --study NAME"""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.corpus.exchange.dataset import parse_naming
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.management.imports import ImportCommand
from core.accounts.models.projects import Project
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument
from judging.runs.imports import study_packages as reading


class Command(ImportCommand):
    makes_roots = True
    help = "Import items and labels, people's and judges', from another tool's export."
    example = "import_study project-1.json --format labelstudio --study pilot"
    path_help = "the file; a folder for Potato and hf"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument("--format", choices=list(EXCHANGES), required=True)
        parser.add_argument("--study", required=True, help="name of the study; made if there is none")
        parser.add_argument("--source", default="", help="whose ids these are (default: the format's name)")
        parser.add_argument(
            "--fields", nargs="+", default=[], metavar="FIELD=NAME", help="how the file calls dialogue, response_1, …"
        )
        parser.add_argument("--judges", nargs="+", default=[], metavar="NAME", help="raters that are judges")
        parser.add_argument(
            "--fixed-order", action="store_true", help="Potato: responses were never swapped on the screen"
        )

    def run(
        self, *, path: Path, format: str, study: str, source: str, fields: list[str], judges: list[str],
        fixed_order: bool, on_error: OnError, project: Project | None, **_: object,
    ) -> ImportDocument:  # fmt: skip
        file, naming = InputFile.from_path(path), parse_naming(fields, judges, fixed_order=fixed_order)
        outcome = reading.load(
            by=None,
            project=project,
            file=file,
            format=format,
            study=study,
            source=source,
            naming=naming,
            on_error=on_error,
        )
        return outcome.to_document()
