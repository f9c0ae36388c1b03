"""Which tables a backup holds, and how a row is written and read."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal

from django.apps import apps
from django.db import models
from django.db.models import Model

LEFT_OUT = {
    "contenttypes": "made by migrations",
    "sessions": "people sign in again",
    "admin": "the administration's own log",
    "auth": "Concord asks an account's role, not groups and permissions",
}
UNUSED_LINKS = ("User_groups", "User_user_permissions")


def list_models() -> list[type[Model]]:
    """Every table of the site, those between two others too; what each refers to comes before it, if it can."""
    found = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label not in LEFT_OUT and model.__name__ not in UNUSED_LINKS and model._meta.managed
    ]
    return sorted(found, key=lambda model: model._meta.label)


def columns(model: type[Model]) -> list[models.Field[object, object]]:
    return list(model._meta.concrete_fields)


def rows(model: type[Model], batch: int = 2000, *, found: models.QuerySet[Model] | None = None) -> Iterator[str]:
    """Each row (or each of those found) as one line of JSON: column to value, by primary key."""
    names = [field.attname for field in columns(model)]
    chosen = model._base_manager.all() if found is None else found
    for values in chosen.order_by("pk").values_list(*names).iterator(chunk_size=batch):
        yield json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, default=plain) + "\n"


def plain(value: object) -> str:
    """What JSON has no form for, with nothing lost: Django's own encoder cuts microseconds."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be kept in a backup")


def instances(model: type[Model], lines: Iterable[str]) -> Iterator[Model]:
    """The rows that `rows` wrote. KeyError or ValueError where a line is not one of this table."""
    fields = columns(model)
    for line in lines:
        kept = json.loads(line)
        yield model(**{field.attname: field_value(field, kept[field.attname]) for field in fields})


def field_value(field: models.Field[object, object], kept: object) -> object:
    """JSON columns hold what they hold; all others know how to read their text."""
    return kept if isinstance(field, models.JSONField) else field.to_python(kept)
