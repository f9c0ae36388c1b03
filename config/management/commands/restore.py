"""`restore`: a backup into an empty site."""

from __future__ import annotations

import sys
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from config.backups import reading
from config.backups.writing import Manifest
from config.erasure import again


class RestoreDocument(Manifest):
    path: str


class Command(ConcordCommand[RestoreDocument]):
    help = (
        "Fill an empty site with a backup, on this or another database. All of it or nothing. An encrypted backup "
        "needs the key that it was made with in CONCORD_BACKUP_KEY. Whoever is in the list of the withdrawn is "
        "withdrawn or erased again."
    )
    example = "restore /mnt/backups/concord-20261122T031000Z.backup"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--withdrawn", type=Path, nargs="+", default=[], metavar="LIST",
            help="more lists of the withdrawn, such as those of other hosts; they are added to this site's",
        )  # fmt: skip

    def run(self, *, file: Path, withdrawn: list[Path], **_: object) -> RestoreDocument:
        reading.check_readable(file)
        call_command("migrate", verbosity=0)
        again.add_lists(withdrawn)
        return {"path": str(file), **reading.restore(file, tell=self.show_progress)}

    def show_progress(self, label: str, rows: int) -> None:
        if self.on_terminal:
            sys.stderr.write(f"{rows:>12,} {label}\n")

    def write_text(self, document: RestoreDocument) -> None:
        rows = sum(table["rows"] for table in document["tables"].values())
        self.stdout.write(f"{rows:,} rows restored, as of {document['made_at']} ({document['code_version']})")
        self.stdout.write(again.sentence(document["withdrawn_again"]))
