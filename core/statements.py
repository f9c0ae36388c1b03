"""Statements that are written out, for the few things that sixty people wait for at once; and rows updated together.

To put such a statement together from a queryset takes Django longer than the database takes to answer it. PostgreSQL
also keeps them parsed and planned for as long as a connection lasts. What comes from outside is always a parameter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model

from core.batches import iterate_batches

Row = tuple[Any, ...]
M = TypeVar("M", bound=Model)


def row(statement: str, parameters: Mapping[str, object]) -> Row | None:
    """Return the first row of what a statement returns; None if there is none."""
    with open_cursor() as cursor:
        cursor.execute(statement, adapt_parameters(parameters))
        found: list[Row] = cursor.fetchall()  # to the end, where SQLite commits a statement that also returns something
    return found[0] if found else None


def execute(statement: str, parameters: Mapping[str, object]) -> int:
    """Run a statement that returns nothing, and return how many rows it changed."""
    with open_cursor() as cursor:
        cursor.execute(statement, adapt_parameters(parameters))
        return int(cursor.rowcount)


def open_cursor() -> Any:
    """A cursor; one that keeps its statements prepared, where the database can (`config.postgresql`)."""
    return getattr(connection, "prepared_cursor", connection.cursor)()


def adapt_parameters(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters with times as the database takes them."""
    adapt = connection.ops.adapt_datetimefield_value
    return {name: adapt(value) if isinstance(value, datetime) else value for name, value in parameters.items()}


class Columns(Generic[M]):
    """Columns of a model, all of them or these, and objects made from what a statement returned for them.

    A field that was not read is read when somebody asks for it, as after `only()`.
    """

    def __init__(self, model: type[M], *names: str) -> None:
        self.model = model
        self.fields = [field for field in model._meta.concrete_fields if not names or field.attname in names]
        self.names = [field.attname for field in self.fields]

    def __len__(self) -> int:
        return len(self.fields)

    def render(self, alias: str) -> str:
        """To stand behind SELECT, where the table is called so."""
        return ", ".join(f'{alias}."{field.column}"' for field in self.fields)

    def build_row(self, values: Sequence[object]) -> M:
        """An object of what is in these columns."""
        read = list(values)
        for place, convert, expression in self.converters:
            read[place] = convert(read[place], expression, connection)
        return self.model.from_db("default", self.names, read)

    @cached_property
    def converters(self) -> Sequence[tuple[int, Callable[..., object], object]]:
        """What makes of a column's content a value: its place, and a function with the expression that it takes."""
        found = []
        for place, field in enumerate(self.fields):
            column = field.get_col(field.model._meta.db_table)
            both = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
            found += [(place, convert, column) for convert in both]
        return found


def load(statement: str, parameters: Mapping[str, object], *parts: Columns[Any]) -> list[Any] | None:
    """Return what a statement returns in its first row, with an object for the columns of each part; None without one.

    The parts' columns come last, in this order. None stands for a table that was joined and had no row.
    """
    found = row(statement, parameters)
    if found is None:
        return None
    start = len(found) - sum(map(len, parts))
    loaded = list(found[:start])
    for part in parts:
        mine = found[start : start + len(part)]
        start += len(part)
        loaded.append(None if mine[0] is None else part.build_row(mine))
    return loaded


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
        for some in iterate_batches(group, MOST):
            there = type(group[0])._base_manager.filter(pk__in=[row.pk for row in some])
            there.update(**dict(zip(fields, values, strict=True)))
