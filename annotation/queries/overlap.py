"""How many ratings each item has and may get, and whether a look at an adaptive study is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from annotation.models import Assignment, Item, OverlapRound, Study

RATING, SUBMITTED, OPEN = Assignment.Purpose.RATING, Assignment.State.SUBMITTED, Assignment.State.OPEN

EVERY = 0.1
"""Ratings that have to come in between two looks while slots are open, as a share of those that all items get."""


@dataclass(frozen=True)
class ItemSlots:
    """The rating slots of one item.

    Attributes
    ----------
    n
        How many there are.
    n_open
        How many of them are not handed in.
    last
        The highest number of one.
    n_ab
        How many show response 1 as A.
    """

    item: int
    position: int
    n: int
    n_open: int
    last: int
    n_ab: int


def slots_by_item(study: Study, positions: list[int] | None = None) -> dict[int, ItemSlots]:
    """By position, the slots of all items, or of some; items without any are left out. One query."""
    slots = study.assignments.filter(purpose=RATING).order_by()
    slots = slots if positions is None else slots.filter(item__position__in=positions)
    rows = slots.values_list("item", "item__position").annotate(
        n=Count("pk"),
        waiting=Count("pk", filter=~Q(state=SUBMITTED)),
        last=Max("slot"),
        ab=Count("pk", filter=Q(order=Assignment.Order.AB)),
    )
    return {position: ItemSlots(item, position, *numbers) for item, position, *numbers in rows}


def adaptive_studies() -> QuerySet[Study]:
    """Open studies that ask again about items whose tier is unclear."""
    return Study.objects.filter(is_adaptive=True, state=Study.State.OPEN)


def is_due(study: Study) -> bool:
    """Whether enough ratings came in since the last look, or people have nothing left. At most three queries."""
    slots = study.assignments.filter(purpose=RATING)
    counts = slots.aggregate(rated=Count("pk", filter=Q(state=SUBMITTED)), free=Count("pk", filter=Q(state=OPEN)))
    new = counts["rated"] - (OverlapRound.objects.filter(study=study).aggregate(n=Max("n_ratings"))["n"] or 0)
    if new <= 0:
        return False
    return not counts["free"] or new >= EVERY * study.overlap * Item.objects.filter(study=study).count()


def last_round(study: Study) -> OverlapRound | None:
    """The newest look at an adaptive study."""
    return OverlapRound.objects.filter(study=study).order_by("-n_ratings").first()


def ratings_asked_for(study: Study) -> dict[str, Any]:
    """Ratings handed in and planned, and what as many as one may for all items would be. Two queries."""
    slots = study.assignments.filter(purpose=RATING)
    counts = slots.aggregate(submitted=Count("pk", filter=Q(state=SUBMITTED)), planned=Count("pk"))
    return {**counts, "for_all": study.items.count() * study.limit}
