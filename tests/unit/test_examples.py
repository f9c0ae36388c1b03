"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.support.paths import ROOT

APPS = ("annotation", "judging", "simulation", "core", "config")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("module", MODULES)
def test_examples_hold(module: str) -> None:
    found = doctest.testmod(import_module(module))
    assert found.attempted
    assert not found.failed
