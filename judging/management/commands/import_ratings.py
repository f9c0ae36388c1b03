"""python manage.py import_ratings FILE.csv --study NAME [--judge NAME]"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.imports import ImportCommand
from annotation.studies.imports import ratings
from core.accounts.models.projects import Project
from core.files.input_files import InputFile, OnError
from core.files.outcome import ImportDocument
from judging.runs.imports import ratings as judge_ratings


class Command(ImportCommand):
    makes_roots = True
    help = "Import people's labels from a long table (item, rater, criterion, value), or a judge's with --judge."
    example = "import_ratings labels.csv --study pilot"
    path_help = "the CSV file"

    def arguments(self, parser: CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument("--study", required=True, help="name of the study; made from the items if there is none")
        parser.add_argument("--judge", help="the labels are what this judge said")

    def run(
        self, *, path: Path, study: str, judge: str | None, on_error: OnError, project: Project | None, **_: object
    ) -> ImportDocument:
        load = ratings.load if judge is None else partial(judge_ratings.load, judge=judge)
        outcome = load(by=None, file=InputFile.from_path(path), study=study, on_error=on_error, project=project)
        return outcome.to_document()
