"""What every test may use once Django is set up: a plugin of pytest."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import connection
from django.test import Client
from pytest_django import DjangoDbBlocker

from config.broker import FileCache
from core import charts
from core.audit import log, triggers
from judging.assessment import row_triggers
from tests.support.callers import caller, rosa  # noqa: F401  fixtures
from tests.support.factories import UserFactory
from tests.support.guards import build_drop_statements, run
from tests.support.people import alice, bob, charlie, open_study  # noqa: F401  fixtures
from tests.support.prebuilt import find_or_make_demo, find_or_make_migrated, use_copied_database
from tests.support.second_factors import one_moment  # noqa: F401  fixture


def pytest_sessionstart(session: pytest.Session) -> None:
    """Who deals out tests to other processes migrates a database while they collect; else all wait for the first."""
    if getattr(session.config.option, "numprocesses", None) and "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        Thread(target=find_or_make_migrated).start()


@pytest.fixture(autouse=True, scope="session")
def blocked_database(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """pytest-django blocks it where it finds Django set up at its own start, which `pytest tests` does later."""
    with django_db_blocker.block():
        yield


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """A copy of the migrated database."""
    with django_db_blocker.unblock():
        stop = use_copied_database()
    empty_quickly()
    yield
    with django_db_blocker.unblock():
        stop()


def empty_quickly() -> None:
    """Tests that commit empty behind them the tables that have rows, without the triggers that refuse it.

    Django's flush empties all: PostgreSQL takes seconds to make their files anew. It also fills anew what `migrate`
    fills by signals, which stays here. By the class: under the event loop of a browser, Django has another connection.
    """
    operations = type(connection.ops)
    operations.sql_flush = build_delete_statements  # type: ignore[assignment, method-assign]
    flush.emit_post_migrate_signal = lambda *given: None


FILLED_BY_SIGNALS = {"auth_permission", "django_content_type"}


def build_delete_statements(self: Any, style: Any, tables: Iterable[str], **options: Any) -> list[str]:
    """Build the SQL that deletes all rows. Their references are checked at once: triggers cannot be made before."""
    vendor, quote = connection.vendor, connection.ops.quote_name
    each = [f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quote(name)})" for name in {*tables} - FILLED_BY_SIGNALS]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(each))
        deletes = [f"DELETE FROM {quote(name)}" for (name,) in cursor.fetchall()]
    checks = ["SET CONSTRAINTS ALL IMMEDIATE"] if vendor == "postgresql" else []
    creating = [*triggers.build_create_statements(vendor), *row_triggers.build_create_statements(vendor)]
    return [*dropping(vendor), *deletes, *checks, *creating]


def dropping(vendor: str) -> list[str]:
    return [*build_drop_statements(vendor), *row_triggers.build_drop_statements(vendor)]


@pytest.fixture(autouse=True, scope="session")
def empty_cache() -> None:
    """Redis still has what the tests counted that ran a moment ago."""
    cache.clear()


@pytest.fixture(autouse=True, scope="session")
def shared_drawings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> None:
    """A chart that one process of this run drew need not be drawn by the others."""
    folder = tmp_path_factory.getbasetemp()
    charts.cache = FileCache(str(folder.parent if worker_id != "master" else folder) + "/drawings", {})  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def empty_second_place() -> None:
    """What other tests did is rolled back or emptied, and the files of heads would still know it."""
    shutil.rmtree(settings.AUDIT_HEADS, ignore_errors=True)


@pytest.fixture
def unguarded(db: None) -> None:
    """A database whose log of acts, rules and revocations can be changed, until the end of the test."""
    run(dropping(connection.vendor))


@pytest.fixture(autouse=True, scope="session")
def arranged_without_acts() -> None:
    """What a test only arranges is no act of somebody: accounts of a factory, and `force_login`."""
    for owner, name in ((UserFactory, "_create"), (Client, "_login")):
        setattr(owner, name, unrecorded(getattr(owner, name)))


def unrecorded(arrange: Callable[..., Any]) -> Callable[..., Any]:
    """The same as a part of another act."""

    @wraps(arrange)
    def arranging(*args: Any, **kwargs: Any) -> Any:
        token = log.pending.set(log.Pending("test.arrange", {"by": None}, None, {}, ("", None, ""), None, None))
        try:
            return arrange(*args, **kwargs)
        finally:
            log.pending.reset(token)

    return arranging


@pytest.fixture(scope="session")
def migrated() -> Callable[[Path], None]:
    """Puts a fresh database into a site's data folder: that site need not `migrate`."""
    return partial(copy_database, find_or_make_migrated)


@pytest.fixture(scope="session")
def with_demo() -> Callable[[Path], None]:
    """Puts the demo's database into a site's data folder."""
    return partial(copy_database, find_or_make_demo)


def copy_database(find: Callable[[], Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(find(), folder / "concord.sqlite3")
