"""Past the triggers of the audit log, for tests that empty the database or play somebody who owns it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from core.audit import triggers


@contextmanager
def without_triggers() -> Iterator[None]:
    """They are made anew behind it."""
    run(triggers.build_drop_statements(connection.vendor))
    yield
    run(triggers.build_create_statements(connection.vendor))


def run(statements: Sequence[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
