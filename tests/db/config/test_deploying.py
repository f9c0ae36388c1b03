"""The files in deploy/ call commands that there are."""

from __future__ import annotations

import re

import pytest
from django.core.management import get_commands

from tests.support.paths import ROOT


@pytest.mark.parametrize("path", sorted((ROOT / "deploy").iterdir()), ids=lambda path: path.name)
def test_every_command_of_manage_py_is_one(path):
    named = re.findall(r"python manage\.py ([a-z_]+)", path.read_text())
    assert set(named) <= set(get_commands())
