"""`queue`: how a study's queue mixes in checks and repeats, and what it asks of newcomers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.quality.models import KnownItem
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import gold_questions
from annotation.studies.queries.studies import study_called

NONE = "none"


class Command(ConcordCommand):
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

    def run(self, **options: Any) -> dict[str, object]:
        study = study_called(options["study"])
        given = {name: options[name] for name in ("check_every", "repeat_every", "repeat_after")}
        given = {name: value for name, value in given.items() if value is not None}
        for name, option, number in (("item_limit", "limit", int), ("pass_mark", "pass_mark", float)):
            if options[option] is not None:
                given[name] = gold_questions.parse_optional_number(options[option], number, name)
        if given:
            gold_questions.set_rules(by=None, study=study, **given)
        items = queries.load_study(study)
        return {
            "study": study.name,
            "rules": {name: getattr(study, name) for name in gold_questions.RULES},
            "seed": study.seed,
            "known_items": {
                purpose: sum(one.purpose == purpose for one in items) for purpose in KnownItem.Purpose.values
            },
            "changes": study.queue_rules.count(),
        }

    def say(self, document: dict[str, Any]) -> None:
        for name, value in document["rules"].items():
            self.stdout.write(f"{name.replace('_', ' '):<14} {NONE if value in (None, 0) else value}")
        for purpose, number in document["known_items"].items():
            self.stdout.write(f"{purpose:<14} {number} items with known answers")
