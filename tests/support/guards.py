"""Past the triggers of the audit log, for tests that empty the database or play somebody who owns it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from core.audit import triggers


@contextmanager
def without_triggers() -> Iterator[None]:
    """They are made anew behind it."""
    run(build_drop_statements(connection.vendor))
    yield
    run(triggers.build_create_statements(connection.vendor))


def run(statements: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def build_drop_statements(vendor: str) -> list[str]:
    """Build the SQL that removes the triggers of the audit log."""
    if vendor == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {name}" for name in triggers.SQLITE]
    return [f"DROP TRIGGER IF EXISTS {name} ON annotation_act" for name in triggers.POSTGRESQL]
