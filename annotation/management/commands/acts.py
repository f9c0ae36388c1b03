"""`manage.py acts`: what researchers did."""

from __future__ import annotations

from datetime import date
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing, format_columns
from core.audit.queries import EventFilter, head, list_events
from core.errors import InputError
from core.options.model import LARGEST


class ActsDocument(TypedDict):
    head: dict[str, int | str]
    acts: Listing


class Command(ConcordCommand[ActsDocument]):
    help = "The audit log, newest event first, with the digest of the newest event."
    example = 'acts --study "My study" --since 2026-01-01 --json'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", default="", help="name or address of a study")
        parser.add_argument("--person", default="", help="username")
        parser.add_argument("--verb", default="", help="such as study.open, or study for all of them")
        parser.add_argument("--since", default="", metavar="DAY", help="first day, UTC, as 2026-01-31")
        parser.add_argument("--until", default="", metavar="DAY", help="last day")
        parser.add_argument("--limit", type=int, default=100, help="how many (default: %(default)s; 0: all)")

    def run(
        self, *, study: str, person: str, verb: str, since: str, until: str, limit: int, **_: object
    ) -> ActsDocument:
        if not 0 <= limit <= LARGEST:
            raise InputError("must be between 0 and {largest}", field="limit", largest=LARGEST)
        wanted = EventFilter(person, study, verb, since=day(since, "since"), until=day(until, "until"))
        rows = list_events(wanted, seen_by=None)
        number, digest = head()
        shown = rows[:limit] if limit else rows
        return {
            "head": {"number": number, "sha256": digest},
            "acts": [one.to_json() for one in shown.iterator(chunk_size=2000)],
        }

    def write_text(self, document: ActsDocument) -> None:
        rows = [
            [
                str(one["number"]),
                str(one["at"])[:19],
                str(one["who"] or one["operator"] or "-"),
                str(one["verb"]),
                " ".join(str(part) for part in (one["kind"], one["object_id"], one["name"]) if part),
            ]
            for one in document["acts"]
        ]
        self.stdout.write(format_columns([["number", "at", "who", "verb", "on"], *rows]))
        head = document["head"]
        self.stdout.write(f"{head['number']} on record, the newest {head['sha256']}")


def day(text: str, field: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InputError("{text!r} is not a day such as 2026-01-31", field=field, text=text) from error
