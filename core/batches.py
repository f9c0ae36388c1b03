"""Rows in batches, for what takes only so many at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Row = TypeVar("Row")


def iterate_batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Yield `size` rows at a time, read as they are asked for; the last batch may have fewer."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
