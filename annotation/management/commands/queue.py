"""`queue`: how a study's queue mixes in checks and repeats, and what it asks of newcomers."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.quality.models import KnownItem
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import gold_questions
from annotation.studies.queries.studies import study_called

NONE = "none"


class QueueDocument(TypedDict):
    study: str
    rules: dict[str, float | None]
    seed: int
    known_items: dict[str, int]
    changes: int


class Command(ConcordCommand[QueueDocument]):
    help = "Show or set the rules of a study's queue. Every change is on record."
    example = "queue pilot --check-every 20 --repeat-every 25 --repeat-after 30 --limit 300 --pass-mark 0.8"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        parser.add_argument("--check-every", type=int, metavar="N", help="one item in N is a check; 0 for none")
        parser.add_argument("--repeat-every", type=int, metavar="N", help="one item in N is a repeat; 0 for none")
        parser.add_argument("--repeat-after", type=int, metavar="K", help="other items between an item and its repeat")
        parser.add_argument("--limit", metavar="N", help=f"items that one person may rate; {NONE} for any number")
        parser.add_argument(
            "--pass-mark", metavar="SHARE", help=f"of right answers, 0 to 1; {NONE} for no qualification"
        )

    def run(
        self, *, study: str, check_every: int | None, repeat_every: int | None, repeat_after: int | None,
        limit: str | None, pass_mark: str | None, **_: object,
    ) -> QueueDocument:  # fmt: skip
        found = study_called(study)
        counts = {"check_every": check_every, "repeat_every": repeat_every, "repeat_after": repeat_after}
        given: dict[str, float | None] = {name: value for name, value in counts.items() if value is not None}
        if limit is not None:
            given["item_limit"] = gold_questions.parse_optional_number(limit, int, "item_limit")
        if pass_mark is not None:
            given["pass_mark"] = gold_questions.parse_optional_number(pass_mark, float, "pass_mark")
        if given:
            gold_questions.set_rules(by=None, study=found, **given)
        items = queries.load_study(found)
        return {
            "study": found.name,
            "rules": {name: getattr(found, name) for name in gold_questions.RULES},
            "seed": found.seed,
            "known_items": {
                purpose: sum(one.purpose == purpose for one in items) for purpose in KnownItem.Purpose.values
            },
            "changes": found.queue_rules.count(),
        }

    def write_text(self, document: QueueDocument) -> None:
        for name, value in document["rules"].items():
            self.stdout.write(f"{name.replace('_', ' '):<14} {NONE if value in (None, 0) else value}")
        for purpose, number in document["known_items"].items():
            self.stdout.write(f"{purpose:<14} {number} items with known answers")
