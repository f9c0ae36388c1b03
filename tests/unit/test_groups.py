"""What belongs together is run by one process, also after an upgrade of pytest or of what deals out the work."""

from __future__ import annotations

import runpy
import tomllib

import pytest

from tests.support.apart import broker_of_this_process
from tests.support.paths import ROOT


@pytest.mark.xdist_group("groups")
def test_the_group_is_in_the_name_by_which_tests_are_dealt_out(request):
    is_dealt_out = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@groups") == is_dealt_out


def test_what_empties_the_database_is_dealt_out_behind_what_needs_the_rows_of_migrations(request):
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    ungrouped = [item for item in request.session.items if not conftest.find_group(item)]
    shared = [one for one in ungrouped if conftest.uses_database(one) and "empty_site" not in one.fixturenames]
    emptying = [conftest.empties_database(item) for item in shared]
    assert emptying == sorted(emptying)


@pytest.mark.parametrize(
    ("dealt_out", "name"),
    [
        ("tests/test_a.py::test_b@killed workers", "tests/test_a.py::test_b"),
        ("tests/test_a.py::test_b[x]@site", "tests/test_a.py::test_b[x]"),
        ("tests/test_a.py::test_b[x@site]", "tests/test_a.py::test_b[x@site]"),
        ("tests/test_a.py::test_b", "tests/test_a.py::test_b"),
    ],
)
def test_a_second_try_names_tests_without_their_group(dealt_out, name):
    assert second_try()["strip_group"](dealt_out) == name


def test_only_listed_tests_have_a_second_try():
    listed = tomllib.loads((ROOT / "tests" / "second_try.toml").read_text())
    for pattern, reason in listed.items():
        file, _, test = pattern.partition("::")
        assert (ROOT / file).read_text().count(f"def {test}(") == 1, pattern
        assert second_try()["find_reason"](f"{pattern}[x]") == reason
    assert second_try()["find_reason"]("tests/unit/test_groups.py::test_only_listed_tests_have_a_second_try") == ""


def second_try() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "second_try.py"))


@pytest.mark.parametrize(
    ("process", "url", "expected"),
    [
        ("gw2", "redis://127.0.0.1:6379/9", "redis://127.0.0.1:6379/11"),
        ("gw9", "redis://127.0.0.1:6379/9", "redis://127.0.0.1:6379/2"),
        ("master", "redis://127.0.0.1:6379/9", "redis://127.0.0.1:6379/9"),
        ("gw2", "", ""),
        ("gw2", "amqp://guest@127.0.0.1/1", "amqp://guest@127.0.0.1/1"),
    ],
)
def test_each_process_has_a_cache_of_its_own(monkeypatch, process, url, expected):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", process)
    assert broker_of_this_process(url) == expected


def test_more_than_two_failures_have_no_second_try(monkeypatch, capsys):
    module = second_try()
    names = [f"tests/test_x.py::test_{number}" for number in range(3)]
    main = module["main"]
    monkeypatch.setitem(main.__globals__, "find_failed", lambda: names)
    monkeypatch.setitem(main.__globals__, "find_reason", lambda name: "listed")
    assert main("test") == 1
    assert "3 tests failed and at most 2 may" in capsys.readouterr().out
