"""Many new rows in few statements, for imports in which model objects would cost more than the database does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.db import connection, models

# SQLite takes 32,766 parameters in a statement since version 3.32 (2020); PostgreSQL gets them as literals.
PARAMETERS = 4000


def insert(model: type[models.Model], fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert `rows`, whose values stand in the order of `fields`. JSON columns take JSON text.

    Defaults of the model do not apply: every column without a default in the database must be named.
    """
    step = PARAMETERS // len(fields)
    with connection.cursor() as cursor:
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            cursor.execute(statement(model, fields, len(part)), list(chain.from_iterable(part)))


def statement(model: type[models.Model], fields: Sequence[str], rows: int) -> str:
    """INSERT of so many rows at once."""
    quote = connection.ops.quote_name
    columns = ", ".join(quote(column(model, name)) for name in fields)
    places = "(" + ", ".join(["%s"] * len(fields)) + ")"
    table = quote(model._meta.db_table)
    return f"INSERT INTO {table} ({columns}) VALUES " + ", ".join([places] * rows)  # noqa: S608  # nosec B608 # our own names, quoted


def column(model: type[models.Model], name: str) -> str:
    """The column of the field called `name`."""
    field = model._meta.get_field(name)
    if not isinstance(field, models.Field) or field.column is None:
        raise TypeError(f"{model.__name__}.{name} has no column")
    return field.column
