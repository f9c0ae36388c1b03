"""`manage.py assign`: say who rates a study's items, and open it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.options import People
from annotation.studies.queries.studies import people_called, study_called, study_row
from annotation.studies.services import studies
from annotation.workbench.services import assignments
from core.audit.log import audit_batch
from core.options.fields import add_arguments, read_arguments


class Command(ConcordCommand):
    help = "Let people rate a study's items; with --open, start it."
    example = "assign pilot --annotators alice,bob,carol --open"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        add_arguments(parser, People, annotators=[])
        parser.add_argument("--open", action="store_true", help="open the study to them")

    def run(self, **options: Any) -> dict[str, object]:
        study = study_called(options["study"])
        with audit_batch():
            people = people_called(read_arguments(People, options)["annotators"])
            assignments.add_annotators(by=None, study=study, annotators=people)
            if options["open"]:
                studies.open(by=None, study=study)
        row = study_row(study)
        return {
            "study": study.name,
            "state": study.state,
            "annotators": list(study.annotators.order_by("username").values_list("username", flat=True)),
            "overlap": study.overlap,
            "items": row.items,
            "ratings_planned": row.planned,
            "ratings_submitted": row.submitted,
        }

    def say(self, document: dict[str, Any]) -> None:
        people = document["annotators"]
        self.stdout.write(f"{document['study']!r} is {document['state']}. Annotators: {', '.join(people) or 'nobody'}.")
        missing = document["overlap"] - len(people)
        if people and missing > 0:
            self.stdout.write(f"Each item is to be rated by {document['overlap']}: {missing} more are needed.")
