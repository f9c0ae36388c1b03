"""`check_invariants`: whether anything is lost, doubled or half done."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing, to_words
from config import invariants
from core.errors import InputError


class InvariantsDocument(TypedDict):
    checked: int
    findings: Listing
    notes: list[str]


class Command(ConcordCommand[InvariantsDocument]):
    help = "Look for what must not be in the database, after faults or a restore. Exits 1 where it finds something."
    example = "check_invariants --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--heads",
            nargs="+",
            type=Path,
            default=[],
            metavar="FILE",
            help="files of other hosts, or of a syslog, that say what the newest event was (CONCORD_AUDIT_HEADS)",
        )

    def write_document(self, document: InvariantsDocument, **options: object) -> None:
        super().write_document(document, **options)
        if document["findings"]:
            sys.exit(1)

    def run(self, *, heads: list[Path], **_: object) -> InvariantsDocument:
        try:
            found, notes = invariants.findings(heads), invariants.notes(heads)
        except OSError as error:
            raise InputError(
                "cannot be read: {strerror}", file=str(error.filename), strerror=error.strerror or error
            ) from error
        return {
            "checked": len(invariants.INVARIANTS) + 10,
            "findings": [{"invariant": one.invariant, "n": one.n, "examples": list(one.examples)} for one in found],
            "notes": notes,
        }

    def write_text(self, document: InvariantsDocument) -> None:
        for one in document["findings"]:
            self.stdout.write(f"BROKEN {one['invariant']} {one['n']}: {to_words(one['examples'])}")
        for note in document["notes"]:
            self.stdout.write(f"NOTE {note}")
        if not document["findings"]:
            self.stdout.write(f"All {document['checked']} invariants hold.")
