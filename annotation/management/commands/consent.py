"""`manage.py consent`: what people agree to before they rate in a study."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.imports import read_text
from annotation.recruitment.queries import find_intake
from annotation.recruitment.services import consents
from annotation.studies.queries.studies import study_called


class Command(ConcordCommand[dict[str, object]]):
    help = "Set the consent text of a study from a file, or tell the one it has."
    example = "consent --study pilot --text consent.txt"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--text", type=Path, metavar="FILE", help="in UTF-8; an empty file asks for nothing")

    def run(self, *, study: str, text: Path | None, **_: object) -> dict[str, object]:
        found = study_called(study)
        if text:
            consents.set_text(by=None, study=found, text=read_text(text))
        consent = find_intake(found).consent_text
        return {
            "study": found.name,
            "hash": consent.content_hash if consent else None,
            "text": consent.text if consent else None,
            "versions": found.consent_texts.count(),
        }

    def write_text(self, document: dict[str, object]) -> None:
        self.stdout.write(
            f"Version {document['hash']}\n\n{document['text']}" if document["hash"] else "Nothing is asked."
        )
