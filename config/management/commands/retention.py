"""`retention`: what is over its period, and its deletion."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns
from config import retention


class RetentionDocument(TypedDict):
    did: bool
    kinds: list[dict[str, object]]


class Command(ConcordCommand[RetentionDocument]):
    help = "Say what has been kept for longer than its period (CONCORD_KEEP_…_DAYS). With --do, delete it."
    example = "retention --do"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--do", action="store_true", help="delete it; without, nothing is changed")

    def run(self, *, do: bool, **_: object) -> RetentionDocument:
        found = retention.due()
        kinds = [one.to_json() for one in found]
        if do:
            for one, told in zip(found, kinds, strict=True):
                told["deleted"] = retention.delete(by=None, kind=one.kind) if one.n else 0
        return {"did": do, "kinds": kinds}

    def write_text(self, document: RetentionDocument) -> None:
        last = "deleted" if document["did"] else "over"
        rows = [
            [one["what"], "always" if one["days"] is None else f"{one['days']} days", one[last], one["variable"]]
            for one in document["kinds"]
        ]
        self.stdout.write(
            format_columns([["what", "kept", last, "set by"], *([str(cell) for cell in row] for row in rows)])
        )
        if not document["did"]:
            self.stdout.write("Nothing was changed. With --do it is deleted.")
