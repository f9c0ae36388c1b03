"""Replies without a verdict make way for what comes when the judge is asked again, and stay on record."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db.models import Count, QuerySet

from judging.runs.models.runs import EarlierReply, JudgeRun, Judgment
from judging.runs.queries.requests import PLACE, Place

OWN_EXAMPLE = "own_example"
SUMMED = ("input_tokens", "output_tokens", "cost_usd")
ANEW = [
    field.name
    for field in Judgment._meta.concrete_fields
    if field.attname not in ("id", "run_id", "tries_left", *PLACE, *SUMMED)
]
"""Columns that are those of the newest reply."""


def replace_judgments(run: JudgeRun, rows: Sequence[Judgment]) -> list[Judgment]:
    """Put the rows in the place of judgments that are asked for again. Return those that are new.

    Of two processes with an answer to the same one gets to put it there: `tries_left` tells whether it is the same.
    """
    asked = Judgment.objects.filter(run=run, tries_left__gt=0, item__in={row.item_id for row in rows})
    there = {to_place(one): one for one in asked.annotate(n_earlier=Count("earlier"))}
    for row in rows:
        if old := there.get(to_place(row)):
            replace_one(old, row)
    return [row for row in rows if to_place(row) not in there]


def to_place(judgment: Judgment) -> Place:
    return tuple(getattr(judgment, name) for name in PLACE)


def replace_one(old: Judgment, row: Judgment) -> None:
    row.tries_left = old.tries_left - 1 if row.tries_left else 0
    there = Judgment.objects.filter(pk=old.pk, tries_left=old.tries_left)
    new = {name: getattr(row, name) for name in ANEW} | {name: total(old, row, name) for name in SUMMED}
    if there.update(**new, tries_left=row.tries_left):
        EarlierReply.objects.create(
            judgment=old,
            number=vars(old)["n_earlier"] + 1,
            **{name: getattr(old, name) for name in ("unscored_reason", "explanation", "raw_reply", "created_at")},
            cost_usd=old.cost_usd and old.cost_usd - sum_paid(old),
        )
    else:
        row.tries_left = 0


def total(old: Judgment, row: Judgment, name: str) -> Decimal | int | None:
    """Of both replies together; None where it is not known of one."""
    before, now = getattr(old, name), getattr(row, name)
    if name != "cost_usd":
        return None if before is None and now is None else (before or 0) + (now or 0)
    return None if before is None or now is None else before + now


def sum_paid(old: Judgment) -> Decimal:
    """What the replies cost that it has on record."""
    return sum((one.cost_usd or Decimal(0) for one in old.earlier.all()), Decimal(0))


def to_ask_again(run: JudgeRun) -> QuerySet[Judgment]:
    """What can be asked for again: replies without a verdict, but on the judge's own examples."""
    return run.judgments.filter(value="").exclude(unscored_reason=OWN_EXAMPLE)


def ask_again(run: JudgeRun, tries: int) -> set[int]:
    """Have all of these asked for again, so often. Returns the items that they are on."""
    found = to_ask_again(run)
    found.update(tries_left=tries)
    return set(found.values_list("item_id", flat=True))
