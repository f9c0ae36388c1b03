"""Documents that are about to become JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, TypeGuard, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float64]
    IntArray = npt.NDArray[np.int64]

Row = dict[str, Any]
AT_ONCE = 2000
"""Rows that are made at once, and pieces of text that are handed on together."""


class Rows(Sequence[Row]):
    """Rows of a document that are made when they are looked at, some thousand at a time.

    A list of a million dicts takes a gigabyte; what they are made from takes a few columns of numbers.

    Parameters
    ----------
    order
        The numbers of the rows, in their order.
    made
        Makes the rows of these numbers, anew each time.
    columns
        By what the rows can be sorted: a number for each, NaN where it is undefined.
    """

    def __init__(
        self, order: IntArray, made: Callable[[IntArray], list[Row]], columns: Mapping[str, FloatArray] | None = None
    ) -> None:
        self.order, self.made, self.columns = order, made, columns or {}

    def __len__(self) -> int:
        return self.order.size

    @overload
    def __getitem__(self, which: int) -> Row: ...
    @overload
    def __getitem__(self, which: slice) -> list[Row]: ...
    def __getitem__(self, which: int | slice) -> Row | list[Row]:
        if isinstance(which, slice):
            return self.made(self.order[which])
        return self.made(self.order[[which]])[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Row.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment] # as of a list

    def take(self, places: IntArray) -> Rows:
        """Take the rows at these places, in this order."""
        return Rows(self.order[places], self.made, self.columns)

    def sort_by(self, name: str, *, descending: bool = False) -> Rows:
        """Sorted by a column. What is undefined comes last, or first where descending; equal ones stay in order."""
        import numpy as np  # every command imports this module, and most have no arrays

        values = self.columns[name][self.order]
        undefined = np.isnan(values)
        return self.take(np.lexsort([-values, ~undefined] if descending else [values, undefined]))


def build_numbered_rows(
    n: int, made: Callable[[IntArray], list[Row]], columns: Mapping[str, FloatArray] | None = None
) -> Rows:
    """Rows 0 to n - 1."""
    import numpy as np

    return Rows(np.arange(n), made, columns)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple | Rows)


def drop_nan(value: object) -> object:
    """The same document with NaN and infinities as null, which is all that JSON can say."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: drop_nan(part) for key, part in value.items()}
    if is_list(value):
        return [drop_nan(part) for part in value]
    return value


def pieces(document: object) -> Iterator[str]:
    """The text that `json.dumps` makes of `without_nan` with an indent of one, without holding all of it at once."""
    left = _pieces(document, 0)
    while some := "".join(islice(left, AT_ONCE)):
        yield some


def _pieces(value: object, depth: int) -> Iterator[str]:
    inside, start = "\n" + " " * (depth + 1), ""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield f"{start or '{'}{inside}{_key(key)}: "
            yield from _pieces(part, depth + 1)
            start = ","
        yield f"\n{' ' * depth}}}"
    elif isinstance(value, Rows) and value:
        for row in value:
            yield f"{start or '['}{inside}{_text(row, depth + 1)}"
            start = ","
        yield f"\n{' ' * depth}]"
    else:
        yield _text(value, depth)


def _text(value: object, depth: int) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, Mapping) and value:
        return _enclosed("{}", [f"{_key(key)}: {_text(part, depth + 1)}" for key, part in value.items()], depth)
    if is_list(value) and value:
        return _enclosed("[]", [_text(part, depth + 1) for part in value], depth)
    return json.dumps(drop_nan(value)) if value is not None else "null"


def _enclosed(ends: str, parts: Sequence[str], depth: int) -> str:
    inside = "\n" + " " * (depth + 1)
    return f"{ends[0]}{inside}{f',{inside}'.join(parts)}\n{' ' * depth}{ends[1]}"


def _key(key: object) -> str:
    return encode_basestring(key) if isinstance(key, str) else f'"{json.dumps(drop_nan(key))}"'
