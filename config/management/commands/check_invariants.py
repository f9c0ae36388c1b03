"""`check_invariants`: whether anything is lost, doubled or half done."""

from __future__ import annotations

import sys
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from config import invariants
from core.errors import InputError


class Command(ConcordCommand):
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

    def handle(self, *args: object, **options: object) -> None:
        super().handle(*args, **options)
        if self.found:
            sys.exit(1)

    def run(self, *, heads: list[Path], **_: object) -> dict[str, object]:
        try:
            self.found = invariants.findings(heads)
            self.notes = invariants.notes(heads)
        except OSError as error:
            raise InputError(
                "cannot be read: {strerror}", file=str(error.filename), strerror=error.strerror or error
            ) from error
        return {
            "checked": len(invariants.INVARIANTS) + 10,
            "findings": [
                {"invariant": one.invariant, "n": one.n, "examples": list(one.examples)} for one in self.found
            ],
            "notes": self.notes,
        }

    def say(self, document: dict[str, object]) -> None:
        for one in self.found:
            self.stdout.write(f"BROKEN {one.invariant} {one.n}: {', '.join(one.examples)}")
        for note in self.notes:
            self.stdout.write(f"NOTE {note}")
        if not self.found:
            self.stdout.write(f"All {document['checked']} invariants hold.")
