"""Records of one source into a table: new ones inserted, changed ones updated in place, the same left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from django.db import connection, models
from django.utils import timezone

from annotation.corpus.models import Dialogue, ResponsePair, SourcedModel
from core.batches import iterate_batches
from core.files.outcome import Outcome

Row = TypeVar("Row", bound=SourcedModel)


@dataclass(frozen=True)
class Plan:
    """What to do with some records, by their external ids."""

    new: frozenset[str]
    changed: frozenset[str]
    same: frozenset[str]


def compare(model: type[SourcedModel], source: str, hashes: Mapping[str, str]) -> Plan:
    """Tell new, changed and unchanged records apart by the hash of their content. One query."""
    rows = model._default_manager.filter(source=source, external_id__in=list(hashes))
    stored = dict(rows.values_list("external_id", "content_hash"))
    same = frozenset(name for name, digest in hashes.items() if stored.get(name) == digest)
    return Plan(
        new=frozenset(hashes.keys() - stored.keys()), changed=frozenset(hashes.keys() & stored.keys()) - same, same=same
    )


def save(model: type[Row], rows: Sequence[Row], *, kind: str, plan: Plan, outcome: Outcome) -> None:
    """Write rows of the plan's new and changed records, and count them as `kind`."""
    changed = [row.external_id for row in rows if row.external_id in plan.changed]
    outcome.add(kind, created=len(rows) - len(changed), updated=len(changed), unchanged=len(plan.same))
    if changed and issubclass(model, Dialogue | ResponsePair):
        items = model._default_manager.filter(source=rows[0].source, external_id__in=changed, items__isnull=False)
        outcome.changed_items += items.distinct().count()
    now = timezone.now()
    for row in rows:
        row.updated_at = now
    fixed = {"id", "source", "external_id", "created_at"}
    columns = [field.name for field in model._meta.concrete_fields if field.name not in fixed]
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["source", "external_id"], update_fields=columns
    )


# SQLite takes 32,766 parameters in a statement since version 3.32 (2020); PostgreSQL gets them as literals.
PARAMETERS = 4000


def insert(model: type[models.Model], fields: Sequence[str], rows: Sequence[Sequence[str | int | None]]) -> None:
    """Insert `rows`, whose values stand in the order of `fields`. JSON columns take JSON text.

    Defaults of the model do not apply: every column without a default in the database must be named.
    """
    step = PARAMETERS // len(fields)
    with connection.cursor() as cursor:
        for part in iterate_batches(rows, step):
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
