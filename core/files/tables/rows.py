"""A row of a file, what became of its cells, and values in it by dotted path: `meta.user.name`, `answers.0.text`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class TableRow(NamedTuple):
    """The line at which a row begins, from 1 (of Parquet and JSON lists its number), and its values by column."""

    line: int
    values: dict[str, object]


@dataclass
class RowNotes:
    """What had to be done to read the rows, counted. `to_sentences` says it."""

    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)

    def to_sentences(self) -> Iterator[str]:
        yield from self.said
        for what, n in self.counts.items():
            yield f"{n:,} {'row has' if n == 1 else 'rows have'} {what}"


def is_blank(value: object) -> bool:
    """Whether a cell says nothing: missing, empty, or white space alone."""
    return value is None or value == [] or value == {} or (isinstance(value, str) and not value.strip())


MOST_COLUMNS = 300
DEEPEST = 6
FIRST_ELEMENTS = 2
"""Of a list so many elements are offered as columns of their own."""


def find_value(value: object, path: str) -> object:
    """Return what stands at a dotted path; None where nothing does. A key may itself have dots in it.

    >>> find_value({"a": {"b": [{"c": 1}]}, "x.y": 2}, "a.b.0.c"), find_value({"x.y": 2}, "x.y")
    (1, 2)
    """
    if isinstance(value, Mapping):
        if path in value:
            return value[path]
        place = path.rfind(".")
        while place > 0:
            if path[:place] in value:
                return find_value(value[path[:place]], path[place + 1 :])
            place = path.rfind(".", 0, place)
        return None
    head, _, rest = path.partition(".")
    if isinstance(value, list) and head.isdecimal() and int(head) < len(value):
        return find_value(value[int(head)], rest) if rest else value[int(head)]
    return None


def list_paths(value: Mapping[str, object], above: str = "", depth: int = 1) -> Iterator[tuple[str, object]]:
    """Yield every dotted path of a row with its value: objects and lists themselves, and what is in them."""
    for name, part in value.items():
        path = f"{above}{name}"
        yield path, part
        yield from list_inner(part, path, depth)


def list_inner(part: object, path: str, depth: int) -> Iterator[tuple[str, object]]:
    if depth >= DEEPEST:
        return
    if isinstance(part, Mapping):
        yield from list_paths(part, f"{path}.", depth + 1)
    elif isinstance(part, list):
        for place, one in enumerate(part[:FIRST_ELEMENTS]):
            yield f"{path}.{place}", one
            yield from list_inner(one, f"{path}.{place}", depth + 1)
