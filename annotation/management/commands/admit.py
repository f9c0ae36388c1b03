"""`admit`: who came through training and qualification; letting somebody through, or try again, by a decision."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import qualification
from annotation.studies.queries.studies import people_called, study_called
from core.errors import InputError


class AdmissionsDocument(TypedDict):
    study: str
    pass_mark: float | None
    results: Listing


class Command(ConcordCommand[AdmissionsDocument]):
    help = (
        "Show the results of a study's qualification; with --annotator, let somebody through or, with --again, let "
        "somebody who did not pass try once more. It is on record."
    )
    example = 'admit pilot --annotator ben --by rosa --reason "Misread the scale; we talked it through."'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        parser.add_argument("--annotator", metavar="NAME", help="whom to let through")
        parser.add_argument("--again", action="store_true", help="they may try once more, rather than rate at once")
        parser.add_argument("--by", metavar="NAME", help="who decides")
        parser.add_argument("--reason", default="")

    def run(
        self, *, study: str, annotator: str | None, by: str | None, again: bool, reason: str, **_: object
    ) -> AdmissionsDocument:
        found = study_called(study)
        if annotator:
            if not by:
                raise InputError("Say who decides.", field="by")
            (person,), (decider,) = people_called([annotator], "annotator"), people_called([by], "by")
            decide = qualification.try_again if again else qualification.let_through
            decide(by=decider, study=found, annotator=person, reason=reason)
        elif again:
            raise InputError("Say who may try again.", field="annotator")
        return {
            "study": found.name,
            "pass_mark": found.pass_mark,
            "results": [
                {
                    "annotator": one.annotator.username,
                    "outcome": one.outcome,
                    "round": one.round,
                    "right": one.right,
                    "asked": one.asked,
                    "pass_mark": one.pass_mark,
                    "decided_by": one.decided_by.username if one.decided_by else None,
                    "reason": one.reason,
                    "at": one.created_at.isoformat(),
                }
                for one in queries.admissions(found)
            ],
        }

    def write_text(self, document: AdmissionsDocument) -> None:
        if not document["results"]:
            self.stdout.write("Nobody has completed a qualification yet.")
        for one in document["results"]:
            what = "may try again" if one["outcome"] == "again" else one["outcome"]
            by = f", decided by {one['decided_by']}: {one['reason']}" if one["decided_by"] else ""
            self.stdout.write(
                f"{one['annotator']}: {what}, round {one['round']}, {one['right']} of {one['asked']} right{by}"
            )
