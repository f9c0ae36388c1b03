"""Millions of rows as columns of whole numbers: what statistics are computed from, without an object for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Case, Expression, IntegerField, QuerySet, Value, When
from django.db.models.functions import Cast

from annotation.models import Criterion
from annotation.stats.table import IntArray

UNSCORED, ELSEWHERE = -1, -2
"""In place of a position on the scale: no value, and a value that is not one of the scale as it is spelled there."""

ROWS = 50_000
"""Read at once, where rows come one by one."""

GROUPS = 16
"""Packed groups read at once; each has the rows of some four thousand items."""

ITEMS = 4096


def read(rows: QuerySet[Any, Any], *columns: str | Expression) -> tuple[IntArray, ...]:
    """The columns, in no particular order of rows; the first one tells the item. One query.

    PostgreSQL packs the numbers, four bytes each, so that a million rows are a few hundred values to be fetched.
    """
    chosen = [Cast(column, IntegerField()) for column in columns]
    try:
        sql, params = rows.order_by().values_list(*chosen).query.sql_with_params()
    except EmptyResultSet:  # nothing is asked for: Django would not send it either
        return tuple(np.empty(0, dtype=np.int64) for _ in columns)
    parts = packed(sql, params, len(columns)) if connection.vendor == "postgresql" else listed(sql, params)
    found = [part for part in parts if part.size]
    if not found:
        return tuple(np.empty(0, dtype=np.int64) for _ in columns)
    return tuple(np.concatenate([part[:, k] for part in found]).astype(np.int64) for k in range(len(columns)))


def packed(sql: str, params: tuple[Any, ...], width: int) -> Iterator[IntArray]:
    names = [f"c{k}" for k in range(width)]
    row = " || ".join(f"int4send({name})" for name in names)
    whole = f"SELECT string_agg({row}, ''::bytea) FROM ({sql}) AS found({', '.join(names)}) GROUP BY c0 / {ITEMS}"  # noqa: S608 # nosec B608 # names of columns; what comes from outside are parameters
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(whole, params)
        while groups := cursor.fetchmany(GROUPS):
            for (content,) in groups:
                yield np.frombuffer(content, dtype=">i4").reshape(-1, width)


def listed(sql: str, params: tuple[Any, ...]) -> Iterator[IntArray]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql, params)
        while found := cursor.fetchmany(ROWS):
            yield np.array(found, dtype=np.int64)


def code(criteria: Iterable[Criterion], *, value: str = "value", criterion: str = "criterion_id") -> Case:
    """A value as its place on the scale of the criterion that it answers, counted by the database."""
    places = [
        When(**{criterion: one.pk, value: name}, then=Value(place))
        for one in criteria
        for place, name in enumerate(one.values)
    ]
    return Case(When(**{value: ""}, then=Value(UNSCORED)), *places, default=Value(ELSEWHERE))
