"""Write many rows, those that get the same values by one statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from django.db.models import Model

MOST = 500
"""Rows of one statement."""


def update_alike(rows: Iterable[Model], fields: Sequence[str]) -> None:
    """Save these fields of rows that are in the database.

    `bulk_update` builds a CASE of all rows for each field, which for some ten thousand rows takes minutes. The values
    are hashable, and a field of another table's row is named by its column, such as `annotator_id`.
    """
    alike: dict[tuple[Hashable, ...], list[Model]] = defaultdict(list)
    for row in rows:
        alike[tuple(getattr(row, field) for field in fields)].append(row)
    for values, group in alike.items():
        for start in range(0, len(group), MOST):
            there = type(group[0])._base_manager.filter(pk__in=[row.pk for row in group[start : start + MOST]])
            there.update(**dict(zip(fields, values, strict=True)))
