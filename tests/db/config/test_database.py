"""A kept connection to PostgreSQL is found to be alive or gone without a statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no server that could go away"),
]


@pytest.fixture
def other() -> Iterator[Any]:
    """A connection of its own, as a web process keeps one."""
    made = connection.copy("default")
    made.ensure_connection()
    yield made
    made.close()


def test_an_idle_connection_is_usable_and_asked_nothing(other: Any) -> None:
    with CaptureQueriesContext(other) as queries:
        assert other.is_usable()
    assert len(queries) == 0


def test_a_connection_that_the_server_ended_is_not(other: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [other.connection.info.backend_pid])
        assert cursor.fetchone() == (True,), "it ended within ten seconds"
    assert not other.is_usable()


def test_only_what_is_written_out_is_kept_prepared(other: Any) -> None:
    with other.prepared_cursor() as cursor:
        for text in ("yes", "no"):
            cursor.execute("SELECT upper(%(text)s) || %(n)s::text", {"text": text, "n": 7})
            assert cursor.fetchone() == (f"{text.upper()}7",)
    with other.cursor() as cursor:
        cursor.execute("SELECT %s", [1])
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        assert [text for (text,) in cursor.fetchall()] == ["SELECT upper($1) || $2::text"]


def test_a_prepared_statement_is_counted_and_logged_like_any_other(other: Any) -> None:
    with CaptureQueriesContext(other) as queries, other.prepared_cursor() as cursor:
        cursor.execute("SELECT %(n)s::int", {"n": 1})
    with CaptureQueriesContext(other) as as_ever, other.cursor() as cursor:
        cursor.execute("SELECT %s::int", [1])
    assert [one["sql"] for one in queries] == ["SELECT %(n)s::int"]
    assert [one["sql"] for one in as_ever] == ["SELECT 1::int"]
