"""How many ratings each item has and may get, and whether a round of an adaptive study is due."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q, QuerySet

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Item, Study
from annotation.workbench.models import OverlapRound
from annotation.workbench.queries.progress import list_excluded_ids

RATING, SUBMITTED, OPEN = Assignment.Purpose.RATING, Assignment.State.SUBMITTED, Assignment.State.OPEN

EVERY = 0.1
"""Ratings that have to come in between two rounds while slots are open, as a share of those that all items get."""


@dataclass(frozen=True)
class ItemAssignments:
    """The rating slots of one item.

    Attributes
    ----------
    n
        How many there are.
    n_open
        How many of them are not handed in.
    last
        The highest number of one.
    n_here
        How many are held by annotators who are given items of the study now.
    """

    item: int
    position: int
    n: int
    n_open: int
    last: int
    n_here: int


def annotators_here(study: Study) -> list[int]:
    """Ids of the annotators who are given items of the study. Two queries."""
    return list(study.annotators.exclude(pk__in=list_excluded_ids(study)).values_list("pk", flat=True))


def count_assignments_by_item(study: Study, here: Collection[int] = ()) -> dict[int, ItemAssignments]:
    """By position, the slots of all items, without items that have none; `here` are ids of annotators. One query."""
    slots = study.assignments.filter(purpose=RATING).order_by()
    rows = slots.values_list("item", "item__position").annotate(
        n=Count("pk"),
        waiting=Count("pk", filter=~Q(state=SUBMITTED)),
        last=Max("slot"),
        here=Count("pk", filter=Q(annotator__in=here)),
    )
    return {position: ItemAssignments(item, position, *numbers) for item, position, *numbers in rows}


def adaptive_studies() -> QuerySet[Study]:
    """Open studies that ask again about items whose tier is unclear."""
    return Study.objects.filter(is_adaptive=True, state=Study.State.OPEN)


def is_due(study: Study) -> bool:
    """Whether enough ratings came in since the last round, or people have nothing left. At most five queries.

    A round that was short of annotators is due again once there are more.
    """
    last = find_last_round(study)
    counts = _since(study, last)
    if last and last.n_short and len(annotators_here(study)) > last.n_annotators:
        return True
    if not counts["new"]:
        return False
    return not counts["free"] or counts["new"] >= EVERY * study.overlap * Item.objects.filter(study=study).count()


def _since(study: Study, last: OverlapRound | None) -> dict[str, int]:
    """Ratings that are new since a round, and slots that are open.

    Of two ratings that are handed in at once the earlier may be seen later: their number counts too.
    """
    after = Q(submitted_at__gt=last.read_until) if last and last.read_until else Q()
    slots = study.assignments.filter(purpose=RATING)
    found = slots.aggregate(
        rated=Count("pk", filter=Q(state=SUBMITTED)),
        after=Count("pk", filter=Q(state=SUBMITTED) & after),
        free=Count("pk", filter=Q(state=OPEN)),
    )
    more = found["rated"] - (last.n_ratings if last else 0)
    return {"new": max(found["after"], more), "free": found["free"]}


def find_last_round(study: Study) -> OverlapRound | None:
    """The newest round of an adaptive study."""
    return OverlapRound.objects.filter(study=study).order_by("-number").first()


def count_planned_ratings(study: Study) -> dict[str, int]:
    """Ratings handed in and planned, and what as many as one may for all items would be. Two queries."""
    slots = study.assignments.filter(purpose=RATING)
    counts = slots.aggregate(submitted=Count("pk", filter=Q(state=SUBMITTED)), planned=Count("pk"))
    return {**counts, "for_all": study.items.count() * study.limit}


def read_until(study: Study) -> datetime | None:
    """When the newest rating was handed in; None where there is none."""
    handed_in = study.assignments.filter(purpose=RATING, state=SUBMITTED)
    newest: datetime | None = handed_in.aggregate(at=Max("submitted_at"))["at"]
    return newest
