"""`manage.py assign`: say who rates a study's items, and open it."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.options import People
from annotation.studies.queries.studies import people_called, study_called, study_row
from annotation.studies.services import studies
from annotation.workbench.services import assignments
from core.audit.log import audit_batch
from core.options.fields import add_arguments, read_arguments


class AssignDocument(TypedDict):
    study: str
    state: str
    annotators: list[str]
    overlap: int
    items: int
    ratings_planned: int
    ratings_submitted: int


class Command(ConcordCommand[AssignDocument]):
    help = "Let people rate a study's items; with --open, start it."
    example = "assign pilot --annotators alice,bob,carol --open"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        add_arguments(parser, People, annotators=[])
        parser.add_argument("--open", action="store_true", help="open the study to them")

    def run(self, *, study: str, open: bool, **options: object) -> AssignDocument:
        found = study_called(study)
        with audit_batch():
            people = people_called(read_arguments(People, options)["annotators"])
            assignments.add_annotators(by=None, study=found, annotators=people)
            if open:
                studies.open(by=None, study=found)
        row = study_row(found)
        return {
            "study": found.name,
            "state": found.state,
            "annotators": list(found.annotators.order_by("username").values_list("username", flat=True)),
            "overlap": found.overlap,
            "items": row.items,
            "ratings_planned": row.planned,
            "ratings_submitted": row.submitted,
        }

    def write_text(self, document: AssignDocument) -> None:
        annotators, overlap = document["annotators"], document["overlap"]
        who = ", ".join(annotators) or "nobody"
        self.stdout.write(f"{document['study']!r} is {document['state']}. Annotators: {who}.")
        missing = overlap - len(annotators)
        if annotators and missing > 0:
            self.stdout.write(f"Each item is to be rated by {overlap}: {missing} more are needed.")
