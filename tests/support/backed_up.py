"""The tables that a backup holds: emptied, as on a new site, and read."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

from config.backups import tables
from core.audit.models import Act
from tests.support.guards import without_triggers


def empty_tables(models: Iterable[type[Model]] | None = None) -> None:
    """Empty these, or all."""
    with connection.constraint_checks_disabled(), without_triggers():
        for model in models or tables.list_models():
            model._base_manager.all()._raw_delete(using="default")


def read_tables() -> dict[str, list[str]]:
    """All but the log of acts, which goes on."""
    kept = [model for model in tables.list_models() if model is not Act]
    return {model._meta.label: list(tables.rows(model)) for model in kept}
