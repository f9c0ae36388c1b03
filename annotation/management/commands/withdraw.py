"""`manage.py withdraw`: erase what a person gave in a study, as they asked for."""

from __future__ import annotations

import sys

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.recruitment.services import consents, withdrawn
from annotation.studies.queries.studies import people_called, study_called


class Command(ConcordCommand[dict[str, object]]):
    help = (
        "Withdraw a person's consent: their labels, drafts and answers about themselves in the study are erased for "
        "good, and their items are free for others."
    )
    example = "withdraw --study pilot --annotator bob"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--annotator", required=True, help="name of the account")

    def run(self, *, study: str, annotator: str, **_: object) -> dict[str, object]:
        found, (person,) = study_called(study), people_called([annotator], "annotator")
        done = consents.withdraw(by=None, study=found, annotator=person)
        if problem := withdrawn.problem():
            sys.stderr.write(f"{problem}\n")
        return {
            "study": found.name,
            "annotator": person.username,
            "erased": done.erased,
            "withdrawn_at": done.created_at.isoformat(),
        }

    def write_text(self, document: dict[str, object]) -> None:
        who, study, erased = (document[name] for name in ("annotator", "study", "erased"))
        self.stdout.write(f"{who} has been withdrawn from {study!r}: {erased} labels erased.")
