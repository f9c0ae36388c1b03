"""What the import commands share: `--on-error`, and the counts in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand


class ImportCommand(ConcordCommand):
    """A command that imports what lies at `path`."""

    path_help = "the file"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help=self.path_help)
        parser.add_argument(
            "--on-error",
            choices=["stop", "skip"],
            default="stop",
            help="stop: a bad record ends the import and nothing is kept (default); "
            "skip: the good records are kept, the bad ones are written to PATH.errors.jsonl",
        )

    def say(self, document: Any) -> None:
        for name in ("created", "updated", "unchanged"):
            counts = ", ".join(f"{count} {kind}" for kind, count in document[name].items() if count)
            if counts:
                self.stdout.write(f"{name}: {counts}")
        if study := document.get("study"):
            self.stdout.write(f"study: {study}")
        for warning in document["warnings"]:
            self.stdout.write(f"note: {warning}")
        if document["skipped"]:
            self.stdout.write(f"skipped: {len(document['skipped'])} records, written to {document['errors_file']}")
