"""A row of a file, and what became of its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class TableRow(NamedTuple):
    """The line at which a row begins, from 1 (of Parquet and JSON lists its number), and its values by column."""

    line: int
    values: dict[str, Any]


@dataclass
class RowNotes:
    """What had to be done to read the rows, counted. `to_sentences` says it."""

    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)

    def to_sentences(self) -> Iterator[str]:
        yield from self.said
        for what, n in self.counts.items():
            yield f"{n:,} {'row has' if n == 1 else 'rows have'} {what}"


def is_blank(value: Any) -> bool:
    """Whether a cell says nothing: missing, empty, or white space alone."""
    return value is None or value == [] or value == {} or (isinstance(value, str) and not value.strip())
