"""`backup`: the whole site as one file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TypedDict, final

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from config.backups import encryption, writing
from config.backups.writing import Manifest
from core.errors import InputError
from core.files.writing import output_path, refuse_stdout

NEEDS_KEY = (
    "CONCORD_BACKUP_KEY is not set. A backup holds password hashes and all that people wrote, so it is "
    "encrypted. Make a key with `manage.py backup --new-key`, set it, and keep a copy away from this machine: without "
    "it, nothing opens a backup. Or give --unencrypted."
)


class BackupDocument(Manifest):
    path: str
    bytes: int
    encrypted: bool
    deleted: list[str]


@final
class NewKeyDocument(TypedDict):
    key: str


class Command(ConcordCommand[BackupDocument | NewKeyDocument]):
    help = (
        "Write everything in the database to one file, as it is at one moment, while the site runs. The file is "
        "encrypted with the key in CONCORD_BACKUP_KEY."
    )
    example = "backup --folder /mnt/backups --keep 14 --keep-days 60"
    exports = "backup"

    def arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("-o", "--output", type=output_path, metavar="FILE", help="write this file")
        what.add_argument("--folder", type=Path, help="write a file named by the time into this folder, on any disk")
        what.add_argument("--new-key", action="store_true", help="only print a new key for CONCORD_BACKUP_KEY")
        parser.add_argument("--keep", type=int, metavar="N", help="then delete all backups there but the newest N")
        parser.add_argument("--keep-days", type=int, metavar="D", help="then delete backups older than D days")
        parser.add_argument(
            "--unencrypted",
            action="store_true",
            help="do not encrypt: whoever gets the file can read password hashes and all that people wrote",
        )

    def run(self, **options: Any) -> BackupDocument | NewKeyDocument:
        if options["new_key"]:
            return {"key": encryption.new_key()}
        refuse_stdout(options["output"], "file")
        check_limits(options["folder"], keep=options["keep"], days=options["keep_days"])
        key = None if options["unencrypted"] else find_first_key()
        path = options["output"] or writing.new_path(options["folder"], encrypted=key is not None)
        try:
            manifest = writing.write(path, key=key, tell=self.show_progress)
            size = path.stat().st_size
        except OSError as error:
            raise InputError(
                "cannot be written: {strerror}", file=str(path), strerror=error.strerror or error
            ) from error
        deleted = self.prune(options["folder"], options["keep"], options["keep_days"])
        return {"path": str(path), "bytes": size, "encrypted": key is not None, **manifest, "deleted": deleted}

    def is_export(self, **options: object) -> bool:
        return not options["new_key"]

    def prune(self, where: Path | None, keep: int | None, days: int | None) -> list[str]:
        try:
            return [str(path) for path in writing.prune(where, keep=keep, days=days)] if where else []
        except OSError as error:
            raise InputError(
                "old backups cannot be deleted: {strerror}", file=str(error.filename), strerror=error.strerror
            ) from error

    def show_progress(self, label: str, rows: int) -> None:
        if self.on_terminal:
            sys.stderr.write(f"{rows:>12,} {label}\n")

    def write_text(self, document: BackupDocument | NewKeyDocument) -> None:
        if "path" not in document:
            self.stdout.write(document["key"])
            return
        rows = sum(table["rows"] for table in document["tables"].values())
        how = "encrypted" if document["encrypted"] else "NOT encrypted: it holds password hashes"
        size = document["bytes"] / 1e6
        self.stdout.write(
            f"{rows:,} rows of {len(document['tables'])} tables in {document['path']}, {size:.1f} MB, {how}"
        )
        for path in document["deleted"]:
            self.stdout.write(f"deleted {path}")


def check_limits(where: Path | None, *, keep: int | None, days: int | None) -> None:
    if where is None and (keep, days) != (None, None):
        raise InputError("--keep and --keep-days need --folder.")
    if min(1 if keep is None else keep, 1 if days is None else days) < 1:
        raise InputError("--keep and --keep-days are 1 or more.")


def find_first_key() -> bytes:
    """The key that encrypts. InputError, which says what to do, where there is none."""
    if found := encryption.keys():
        return found[0]
    raise InputError(NEEDS_KEY)
