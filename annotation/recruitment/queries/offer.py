"""What somebody is told before they agree to take part: how many items, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from statistics import median

from annotation.quality.models import KnownItem
from annotation.stats.reading import USUAL
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries.item_features import load_shortest_times

ENOUGH = 20
"""Items with a measured time from which on the duration is told from these."""

LOOKED_AT = 200
"""Items, or measured times, that are looked at."""

SECONDS_TO_DECIDE = 5.0
"""Beside reading, for each answer, where no times have been measured."""


@dataclass(frozen=True)
class Offer:
    """The work of one person.

    Attributes
    ----------
    items
        How many they rate at most.
    before
        Items of training and qualification before these.
    seconds
        Of an item; None where nothing is known.
    """

    items: int
    before: int
    seconds: float | None

    @property
    def minutes(self) -> int | None:
        """Of all together, rounded up to whole minutes, above an hour to five."""
        if self.seconds is None:
            return None
        minutes = (self.items + self.before) * self.seconds / 60
        step = 5 if minutes > 60 else 1
        return max(1, step * ceil(minutes / step))


def load_offer(study: Study) -> Offer | None:
    """What awaits a new annotator; None while the study has no items. At most five queries."""
    there = study.items.count()
    if not there:
        return None
    items = there if study.item_limit is None else min(there, study.item_limit)
    asked = (KnownItem.Purpose.TRAINING, KnownItem.Purpose.QUALIFICATION)
    before = 0
    if study.pass_mark is not None:
        before = study.known_items.filter(purpose__in=asked, round=1, retired_at=None).count()
    return Offer(items, before, measure_seconds(study) or estimate_seconds(study))


def measure_seconds(study: Study) -> float | None:
    """The median of the newest times that pages measured; None where there are few."""
    timed = study.assignments.filter(
        state=Assignment.State.SUBMITTED, purpose=Assignment.Purpose.RATING, active_seconds__gt=0
    )
    newest = [seconds or 0.0 for seconds in timed.order_by("-pk").values_list("active_seconds", flat=True)[:LOOKED_AT]]
    return median(newest) if len(newest) >= ENOUGH else None


def estimate_seconds(study: Study) -> float | None:
    """Reading the item at a usual rate, and deciding on every criterion."""
    times = load_shortest_times(study, range(1, LOOKED_AT + 1))
    return USUAL * median(times.values()) + SECONDS_TO_DECIDE * len(study.asked) if times else None
