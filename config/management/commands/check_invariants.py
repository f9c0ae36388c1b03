"""`check_invariants`: whether anything is lost, doubled or half done."""

from __future__ import annotations

import sys
from typing import Any

from annotation.management.base import ConcordCommand
from config import invariants


class Command(ConcordCommand):
    help = "Look for what must not be in the database, after faults or a restore. Exits 1 where it finds something."
    example = "check_invariants --json"

    def handle(self, *args: Any, **options: Any) -> None:
        self.found = invariants.findings()
        super().handle(*args, **options)
        if self.found:
            sys.exit(1)

    def run(self, **options: Any) -> dict[str, Any]:  # noqa: ARG002
        return {
            "checked": len(invariants.INVARIANTS) + 5,
            "findings": [
                {"invariant": one.invariant, "n": one.n, "examples": list(one.examples)} for one in self.found
            ],
        }

    def say(self, document: dict[str, Any]) -> None:
        for one in document["findings"]:
            self.stdout.write(f"BROKEN {one['invariant']} {one['n']}: {', '.join(one['examples'])}")
        if not document["findings"]:
            self.stdout.write(f"All {document['checked']} invariants hold.")
