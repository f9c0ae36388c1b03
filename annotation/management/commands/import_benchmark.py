"""`manage.py import_benchmark FOLDER`: a release, or a copy of PersonaFeedback, as a released benchmark."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.benchmarks.imports import personafeedback
from annotation.management.imports import ImportCommand


class Command(ImportCommand):
    makes_roots = True
    help = (
        "Import a benchmark as a released version: a folder that `release` wrote, with votes, splits and history, or "
        "any folder in PersonaFeedback's layout."
    )
    example = "import_benchmark trips-1/"
    path_help = "the folder"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument(
            "--name", default=personafeedback.NAME, help="of the benchmark, where the folder names none (%(default)s)"
        )

    def run(self, **options: Any) -> object:
        outcome = personafeedback.load(
            by=None, folder=options["path"], on_error=options["on_error"], name=options["name"]
        )
        return outcome.to_document()
