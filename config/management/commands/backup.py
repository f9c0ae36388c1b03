"""`backup`: the whole site as one file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.errors import InputError
from annotation.management.base import ConcordCommand
from config.backups import writing


class Command(ConcordCommand):
    help = "Write everything in the database to one file, as it is at one moment, while the site runs."
    example = "backup -o concord-2026-11-22.zip"
    exports = "backup"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE")

    def run(self, **options: Any) -> dict[str, Any]:
        path: Path = options["output"]
        try:
            manifest = writing.write(path, tell=self.tell)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=str(path)) from error
        return {"path": str(path), "bytes": path.stat().st_size, **manifest}

    def tell(self, label: str, rows: int) -> None:
        if self.on_terminal:
            sys.stderr.write(f"{rows:>12,} {label}\n")

    def say(self, document: dict[str, Any]) -> None:
        rows = sum(table["rows"] for table in document["tables"].values())
        size = document["bytes"] / 1e6
        self.stdout.write(f"{rows:,} rows of {len(document['tables'])} tables in {document['path']}, {size:.1f} MB")
