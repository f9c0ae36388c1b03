"""`manage.py import_benchmark FOLDER`: a release, or a copy of PersonaFeedback, as a released benchmark."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.benchmarks.imports import personafeedback
from annotation.management.imports import ImportCommand
from core.accounts.models.projects import Project
from core.files.input_files import OnError
from core.files.outcome import ImportDocument


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

    def run(self, *, path: Path, on_error: OnError, name: str, project: Project | None, **_: object) -> ImportDocument:
        outcome = personafeedback.load(by=None, folder=path, on_error=on_error, name=name, project=project)
        return outcome.to_document()
