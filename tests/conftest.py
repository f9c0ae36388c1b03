"""What every test may use. Tests that need Django have more: tests/support/django_setup.py."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import hypothesis
import pytest
from _pytest.nodeid import NodeId
from hypothesis.internal.conjecture import providers

from core import helper_process
from tests.support.paths import ROOT, SHARED

UNIT = ROOT / "tests" / "unit"

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as on a site; read when numpy is first imported
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

    So do those of a module with a fixture of the module: else each process would make what that makes. A long test at
    the end would leave all other processes with nothing to do. Groups of several come before all else.

    pytest-xdist 3.8 puts the group into `_nodeid`, which pytest 9.2 no longer reads: groups would be torn apart.
    """
    if misplaced := [item.nodeid for item in items if item.path.is_relative_to(UNIT) and uses_django(item)]:
        raise pytest.UsageError(f"move to tests/db what uses Django: {misplaced[0]}")
    if config.option.database_only:
        config.hook.pytest_deselected(items=[item for item in items if not runs_on_services(item)])
        items[:] = [item for item in items if runs_on_services(item)]
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        group = find_group(item)
        if group and not item.nodeid.endswith(f"@{group}"):
            item._id = NodeId.parse(f"{item.nodeid}@{group}")
    items.sort(key=lambda item: not is_long(item) or empties_database(item))  # else in the order drawn


def pytest_sessionstart() -> None:
    """What is collected stays until the end: looking through it for garbage takes a tenth of all processor time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def find_group(item: pytest.Item) -> str:
    """The group that a test names, or its module where a fixture is made once for the module; else none."""
    if marker := item.get_closest_marker("xdist_group"):
        return str(marker.args[0])
    if not isinstance(item, pytest.Function):
        return ""
    made = (one for found in item._fixtureinfo.name2fixturedefs.values() for one in found)
    of_module = any(one.scope == "module" for one in made)
    return " ".join(item.path.relative_to(ROOT).with_suffix("").parts) if of_module else ""


def runs_on_services(item: pytest.Item) -> bool:
    on_one = item.get_closest_marker("any_database") and not item.get_closest_marker("each_database")
    if item.get_closest_marker("browser") or on_one:
        return False
    return uses_database(item)


def is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def empties_database(item: pytest.Item) -> bool:
    """Whether no row is there afterwards, not even those that migrations made: pytest-django puts such tests last."""
    marker = item.get_closest_marker("django_db")
    commits = marker is not None and marker.kwargs.get("transaction", False)
    return commits or bool({"live_server", "transactional_db"} & set(getattr(item, "fixturenames", [])))


def uses_django(item: pytest.Item) -> bool:
    return uses_database(item) or bool({"client", "django_db_setup", "rf", "settings"} & set(item.fixturenames))


def uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", []))
    return bool(
        item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db", "live_server", "empty_site"}
    )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data that lies beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real data folder ../shared/data is not there")
    return SHARED
