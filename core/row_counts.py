"""Count rows without reading more of them than a page needs; keep large counts for a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

from django.db.models import Count, IntegerField, Model, QuerySet, Subquery
from django.db.models.functions import Coalesce

LARGE = 100_000
"""Labels that a page reads at most, and rows that are counted for every page."""

SECONDS = 60.0

Found = TypeVar("Found")

_counted: dict[Hashable, tuple[float, object]] = {}
"""Cached counts of this process; other processes keep their own."""


def count_cached(key: Hashable, count: Callable[[], Found], size: Callable[[Found], int]) -> Found:
    """What `count` finds; where that is of many rows, what it found at most a minute ago."""
    now = time.monotonic()
    if (kept := _counted.get(key)) and kept[0] > now:
        return kept[1]  # type: ignore[return-value] # the key tells what was counted
    found = count()
    _counted.pop(key, None)
    if size(found) >= LARGE:
        _counted[key] = (now + SECONDS, found)
    return found


def age(key: Hashable) -> int:
    """Seconds since that was counted; 0 where it is counted for every page."""
    until, _ = _counted.get(key, (0.0, None))
    return int(SECONDS - (until - time.monotonic())) if until > time.monotonic() else 0


def count_up_to_limit(rows: QuerySet[Model, object]) -> int:
    """How many rows there are, or one more than LARGE where there are more: no more than that are looked at."""
    return rows.order_by()[: LARGE + 1].count()


def count_rows(rows: QuerySet[Model], by: str) -> Coalesce:
    """How many of `rows` there are for the outer row that `by` names, as a column of the outer query."""
    n = rows.order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(n, output_field=IntegerField()), 0)
