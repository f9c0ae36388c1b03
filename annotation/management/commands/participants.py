"""`manage.py participants`: who came into a study, and how."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing, format_columns
from annotation.recruitment.queries import answers, participants
from annotation.recruitment.services import enrolment
from annotation.studies.queries.studies import people_called, study_called


class ParticipantsDocument(TypedDict, total=False):
    study: str
    participants: Listing
    annotator: str
    return_code: str


class Command(ConcordCommand[ParticipantsDocument]):
    help = "Participants of a study: where they were recruited, their consent, and their completion codes."
    example = "participants --study pilot --json"
    exports = "participants"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument(
            "--demographics", action="store_true", help="with each person's answers to the questions about them"
        )

        parser.add_argument(
            "--return-code", metavar="ANNOTATOR", help="instead: what lets somebody of a platform in, who lost theirs"
        )

    def run(self, *, study: str, return_code: str | None, demographics: bool, **_: object) -> ParticipantsDocument:
        found = study_called(study)
        if return_code:
            (annotator,) = people_called([return_code], "return_code")
            code = enrolment.tell_return_code(by=None, study=found, annotator=annotator)
            return {"study": found.name, "annotator": annotator.username, "return_code": code}
        rows = [one.to_json() for one in participants(found)]
        if demographics:
            given = answers(found)
            rows = [row | {"demographics": compute_person(given, str(row["annotator"]))} for row in rows]
        return {"study": found.name, "participants": rows}

    def is_export(self, **options: object) -> bool:
        return not options["return_code"]

    def write_text(self, document: ParticipantsDocument) -> None:
        if "return_code" in document:
            self.stdout.write(document["return_code"])
            return
        head = ["annotator", "came_by", "platform_id", "decision", "submitted", "completion_code"]
        rows = [[str(one[name]) for name in head] for one in document["participants"]]
        if given := [found for one in document["participants"] if isinstance(found := one.get("demographics"), dict)]:
            head.append("demographics")
            for row, found in zip(rows, given, strict=True):
                row.append(", ".join(f"{key}: {value}" for key, value in found.items()))
        self.stdout.write(format_columns([[name.replace("_", " ") for name in head], *rows]))


def compute_person(given: dict[str, dict[str, str]], username: str) -> dict[str, str]:
    """What one person answered, by question; without what they prefer not to say."""
    return {key: found[username] for key, found in given.items() if username in found}
