"""python manage.py import_study PATH --format labelstudio|argilla|potato|doccano|votes|inspect|hf --study NAME"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.corpus.exchange.dataset import parse_naming
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.management.imports import ImportCommand
from core.files.input_files import InputFile
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

    def run(self, **options: Any) -> object:
        outcome = reading.load(
            by=None,
            file=InputFile.from_path(options["path"]),
            format=options["format"],
            study=options["study"],
            source=options["source"],
            naming=parse_naming(options["fields"], options["judges"], fixed_order=options["fixed_order"]),
            on_error=options["on_error"],
        )
        return outcome.to_document()
