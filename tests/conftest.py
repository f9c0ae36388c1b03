"""What every test may use."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from pathlib import Path
from threading import Thread
from typing import Any

import hypothesis
import pytest
from _pytest.nodeid import NodeId
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from hypothesis.internal.conjecture import providers
from pytest_django import DjangoDbBlocker

from config.broker import FileCache
from core import charts, helper_process
from core.audit import log, triggers
from judging.assessment import row_triggers
from tests.support.callers import caller, rosa  # noqa: F401  fixtures
from tests.support.factories import UserFactory
from tests.support.guards import run
from tests.support.paths import ROOT, SHARED
from tests.support.people import alice, bob, charlie, open_study  # noqa: F401  fixtures
from tests.support.prebuilt import find_or_make_demo, find_or_make_migrated, use_copied_database
from tests.support.second_factors import one_moment  # noqa: F401  fixture

UNIT = ROOT / "tests" / "unit"

helper_process.LINGER = 600.0  # starting one takes seconds


# A landing must not hang on luck: the same examples in every run. Hypothesis also takes constants out of the modules
# that happen to be loaded, which under xdist are others each time. `make bench` and the fuzzers look further. No
# example has a deadline: on a busy machine any may miss it, and pytest-timeout ends a test that hangs.
hypothesis.settings.register_profile("concord", derandomize=True, deadline=None)
hypothesis.settings.load_profile("concord")
providers._get_local_constants = lambda: providers._local_constants


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="only tests that use the database, without a browser")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a group run in one process, one after the other; long tests are dealt out first.

    A long one at the end would leave all other processes with nothing to do. Groups of several come before all else.

    pytest-xdist 3.8 puts the group into `_nodeid`, which pytest 9.2 no longer reads: groups would be torn apart.
    """
    if misplaced := [item.nodeid for item in items if item.path.is_relative_to(UNIT) and uses_database(item)]:
        raise pytest.UsageError(f"move to tests/db what uses the database: {misplaced[0]}")
    if config.option.database_only:
        config.hook.pytest_deselected(items=[item for item in items if not runs_on_services(item)])
        items[:] = [item for item in items if runs_on_services(item)]
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group and not item.nodeid.endswith(f"@{group.args[0]}"):
            item._id = NodeId.parse(f"{item.nodeid}@{group.args[0]}")
    items.sort(key=lambda item: item.get_closest_marker("long") is None)  # else in the order drawn


def pytest_sessionstart(session: pytest.Session) -> None:
    """What is collected stays until the end: looking through it for garbage takes a tenth of all processor time.

    Who deals out the tests to other processes migrates a database while they collect; else all wait for the first.
    """
    gc.disable()
    if getattr(session.config.option, "numprocesses", None) and "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        Thread(target=find_or_make_migrated).start()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def runs_on_services(item: pytest.Item) -> bool:
    on_one = item.get_closest_marker("any_database") and not item.get_closest_marker("each_database")
    if item.get_closest_marker("browser") or on_one:
        return False
    return uses_database(item)


def uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", []))
    return bool(
        item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db", "live_server", "empty_site"}
    )


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """A copy of the migrated database."""
    with django_db_blocker.unblock():
        stop = use_copied_database()
    flush_acts_too()
    yield
    with django_db_blocker.unblock():
        stop()


def flush_acts_too() -> None:
    """Tests that commit empty every table behind them, without the triggers that refuse it.

    By the class: under the event loop of a browser, Django has another connection object.
    """
    operations = type(connection.ops)
    flush = operations.execute_sql_flush

    def flushing(self: Any, statements: Iterable[str]) -> None:
        vendor = connection.vendor
        flush(
            self,
            [
                *dropping(vendor),
                *statements,
                *triggers.build_create_statements(vendor),
                *row_triggers.build_create_statements(vendor),
            ],
        )

    operations.execute_sql_flush = flushing  # type: ignore[method-assign]


def dropping(vendor: str) -> list[str]:
    return [*triggers.build_drop_statements(vendor), *row_triggers.build_drop_statements(vendor)]


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


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data that lies beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real data folder ../shared/data is not there")
    return SHARED
