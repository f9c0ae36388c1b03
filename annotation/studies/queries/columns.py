"""Millions of rows as columns of whole numbers: what statistics are computed from, without an object for each row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain

import numpy as np
import numpy.typing as npt
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Case, Expression, FloatField, IntegerField, Model, QuerySet, Value, When
from django.db.models.functions import Cast, Coalesce
from django.db.models.sql import Query

from annotation.stats.table import FloatArray, IntArray
from annotation.studies.models.studies import Criterion

UNSCORED, ELSEWHERE = -1, -2
"""In place of a position on the scale: no value, and a value that is not one of the scale as it is spelled there."""

ROWS = 50_000
"""Read at once, where rows come one by one."""

GROUPS = 16
"""Packed groups read at once; each has the rows of some four thousand items."""

ITEMS = 4096


def read(rows: QuerySet[Model], *columns: str | Expression) -> tuple[IntArray, ...]:
    """The columns, in no particular order of rows; the first one tells the item. One query.

    PostgreSQL packs the numbers, four bytes each, so that a million rows are a few hundred values to be fetched.
    """
    found = _read(rows, [Cast(column, IntegerField()) for column in columns], "i" * len(columns))
    return tuple(column.astype(np.int64) for column in found)


def read_scored(
    rows: QuerySet[Model], score: str, *columns: str | Expression
) -> tuple[FloatArray, tuple[IntArray, ...]]:
    """The same with a column of numbers that are not whole, NaN where there is none."""
    number = Coalesce(score, Value(float("nan")), output_field=FloatField())
    whole = [Cast(column, IntegerField()) for column in columns]
    *found, scores = _read(rows, [*whole, number], "i" * len(columns) + "f")
    return scores.astype(float), tuple(column.astype(np.int64) for column in found)


def load_positions_by(rows: QuerySet[Model], name: str | Expression, position: str) -> dict[str | None, IntArray]:
    """By the text that rows have in common, a whole number of each of them. One query."""
    sql, params = rows.order_by().values_list(name, Cast(position, IntegerField())).query.sql_with_params()
    found: dict[str | None, list[IntArray]] = defaultdict(list)
    with closing(connection.cursor()) as cursor:
        if connection.vendor == "postgresql":
            whole = f"SELECT c0, string_agg(int4send(c1), ''::bytea) FROM ({sql}) AS found(c0, c1) GROUP BY c0"  # noqa: S608 # nosec B608 # as in `_packed`
            cursor.execute(whole, params)
            for text, content in cursor.fetchall():
                found[text].append(np.frombuffer(content, dtype=">i4").astype(np.int64))
        else:
            cursor.execute(sql, params)
            each: dict[str | None, list[int]] = defaultdict(list)
            for text, number in cursor.fetchall():
                each[text].append(number)
            found |= {text: [np.array(numbers, dtype=np.int64)] for text, numbers in each.items()}
    return {text: np.concatenate(parts) for text, parts in found.items()}


def _read(rows: QuerySet[Model], chosen: Sequence[Expression], kinds: str) -> list[npt.NDArray[np.number]]:
    """`kinds` says of each column whether its numbers are whole (i) or not (f)."""
    query = rows.order_by().values_list(*chosen).query
    try:
        parts = _packed(query, kinds) if connection.vendor == "postgresql" else _listed(query, kinds)
        found = list(zip(*parts, strict=True))
    except EmptyResultSet:  # nothing is asked for: Django would not send it either
        found = []
    return [np.concatenate(column) for column in found] if found else [np.empty(0) for _ in kinds]


def _packed(query: Query, kinds: str) -> Iterator[list[npt.NDArray[np.number]]]:
    sql, params = query.sql_with_params()
    shape = np.dtype([(f"c{k}", ">i4" if kind == "i" else ">f8") for k, kind in enumerate(kinds)])
    names = shape.names or ()
    row = " || ".join(f"{'int4send' if shape[name].kind == 'i' else 'float8send'}({name})" for name in names)
    whole = f"SELECT string_agg({row}, ''::bytea) FROM ({sql}) AS found({', '.join(names)}) GROUP BY c0 / {ITEMS}"  # noqa: S608 # nosec B608 # names of columns; what comes from outside are parameters
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(whole, params)
        while groups := cursor.fetchmany(GROUPS):
            for (content,) in groups:
                part = np.frombuffer(content, dtype=shape)
                yield [part[name] for name in names]


def _listed(query: Query, kinds: str) -> Iterator[list[npt.NDArray[np.number]]]:
    sql, params = query.sql_with_params()
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, params)
        while found := cursor.fetchmany(ROWS):
            if "f" in kinds:  # None is NaN; numbers of 32 bits stay what they are
                yield list(np.array(found, dtype=np.float64).T)
            else:
                yield list(np.fromiter(chain.from_iterable(found), dtype=np.int64).reshape(-1, len(kinds)).T)


def code(criteria: Iterable[Criterion], *, value: str = "value", criterion: str = "criterion_id") -> Case:
    """A value as its place on the scale of the criterion that it answers, counted by the database."""
    places = [
        When(**{criterion: one.pk, value: name}, then=Value(place))
        for one in criteria
        for place, name in enumerate(one.values)
    ]
    return Case(When(**{value: ""}, then=Value(UNSCORED)), *places, default=Value(ELSEWHERE))
