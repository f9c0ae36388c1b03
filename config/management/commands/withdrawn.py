"""`withdrawn`: the list of who withdrew or was erased, held against the database."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.recruitment.services import withdrawn
from config.erasure import again
from core.errors import InputError


class WithdrawnDocument(TypedDict):
    path: str
    listed: int
    unreadable: list[int]
    not_in_list: int
    not_in_database: int
    written: int
    withdrawn_again: dict[str, object] | None


class Command(ConcordCommand[WithdrawnDocument]):
    help = (
        "Say where the list of the withdrawn and the database differ. With --write, the list gets what it lacks; with "
        "--apply, people in the list are withdrawn or erased again."
    )
    example = "withdrawn --write"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--write", action="store_true", help="append to the list what only the database knows")
        parser.add_argument("--apply", action="store_true", help="do again what only the list knows")
        parser.add_argument("--add", type=Path, nargs="+", default=[], metavar="LIST", help="take in other lists first")

    def run(self, *, write: bool, apply: bool, add: list[Path], **_: object) -> WithdrawnDocument:
        try:
            again.add_lists(add)
            written = withdrawn.write() if write else 0
            done = again.apply_list().to_json() if apply else None
            listed, missing = again.the_list(), withdrawn.find_unlisted()
        except OSError as error:
            raise InputError(
                "cannot be written: {strerror}", file=str(withdrawn.path()), strerror=error.strerror or error
            ) from error
        return {
            "path": str(withdrawn.path()),
            "listed": len(listed.entries),
            "unreadable": list(listed.unreadable),
            "not_in_list": len(missing),
            "not_in_database": len(again.not_applied()),
            "written": written,
            "withdrawn_again": done,
        }

    def write_text(self, document: WithdrawnDocument) -> None:
        self.stdout.write(f"{document['listed']:,} in {document['path']}.")
        if document["written"]:
            self.stdout.write(f"{document['written']:,} of them are new.")
        if done := document["withdrawn_again"]:
            self.stdout.write(again.sentence(done))
        if lines := document["unreadable"]:
            self.stdout.write(f"Lines that cannot be read: {', '.join(map(str, lines))}.")
        if document["not_in_list"]:
            self.stdout.write(f"The list lacks {document['not_in_list']:,}. With --write they are appended.")
        if document["not_in_database"]:
            self.stdout.write(f"The database lacks {document['not_in_database']:,}. With --apply they are done again.")
