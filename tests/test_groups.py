"""What belongs together is run by one process, also after an upgrade of pytest or of what deals out the work."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest


@pytest.mark.xdist_group("groups")
def test_the_group_is_in_the_name_by_which_tests_are_dealt_out(request):
    is_dealt_out = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@groups") == is_dealt_out


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
    found = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "second_try.py"))
    assert found["without_group"](dealt_out) == name
