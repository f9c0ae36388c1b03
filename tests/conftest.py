"""What every test may use."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest
from _pytest.nodeid import NodeId
from django.conf import settings
from django.db import connection
from hypothesis.internal.conjecture import providers
from pytest_django import DjangoDbBlocker

triggers = import_module("annotation.migrations.0017_acts")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# A landing must not hang on luck: the same examples in every run. Hypothesis also takes constants out of the modules
# that happen to be loaded, which under xdist are others each time. `make bench` and the fuzzers look further.
hypothesis.settings.register_profile("concord", derandomize=True)
hypothesis.settings.load_profile("concord")
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a group run in one process, one after the other; long tests are dealt out first.

    A long one at the end would leave all other processes with nothing to do. Groups of several come before all else.

    pytest-xdist 3.8 puts the group into `_nodeid`, which pytest 9.2 no longer reads: groups would be torn apart.
    """
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = item.get_closest_marker("xdist_group")
        if group and not item.nodeid.endswith(f"@{group.args[0]}"):
            item._id = NodeId.parse(f"{item.nodeid}@{group.args[0]}")
    items.sort(key=lambda item: item.get_closest_marker("long") is None)  # else in the order drawn


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """The test database, whose log of acts may be emptied. On SQLite a copy is kept of it as `migrate` left it."""
    made = Path(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite" and not made.exists():
        return  # none of the tests that run needs it
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(made)) as source, closing(sqlite3.connect(migrated_copy())) as copy:
            source.backup(copy)
    with django_db_blocker.unblock():
        if "annotation_act" in connection.introspection.table_names():
            triggers.drop(connection)  # tests that commit empty every table behind them


def migrated_copy() -> Path:
    path: Path = settings.DATA_DIR / "migrated.sqlite3"
    return path


@pytest.fixture(scope="session")
def migrated(django_db_setup: None) -> Callable[[Path], None]:
    """Puts a fresh database into a site's data folder where there is one to copy: that site need not `migrate`."""

    def put(folder: Path) -> None:
        if migrated_copy().exists():
            shutil.copy(migrated_copy(), folder / "concord.sqlite3")

    return put


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data that lies beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real data folder ../shared/data is not there")
    return SHARED
