"""Columns that a source has beside those that Concord reads: strata, filters and groups of items by their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LOOKED_AT = 2000
"""Records that are read to find what columns there are."""

MOST_VALUES = 30
"""Values of a column that a page lists."""


def to_label(extra: object, key: str) -> str:
    """Return the entry of a column as text; empty where it is none, or is neither text nor a number."""
    found = extra.get(key) if isinstance(extra, Mapping) else None
    return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else ""


def list_values(extras: Iterable[object]) -> dict[str, list[str]]:
    """List the values of each column, sorted; without columns with one value, or a different one in every record."""
    rows = list(extras)
    found: dict[str, list[str]] = {}
    for key in sorted({key for extra in rows if isinstance(extra, Mapping) for key in extra}):
        labels = [label for extra in rows if (label := to_label(extra, key))]
        if len(set(labels)) > 1 and len(set(labels)) < max(len(labels), 3):
            found[key] = sorted(set(labels))
    return found
