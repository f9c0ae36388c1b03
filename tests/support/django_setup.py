"""Sets Django up and brings its fixtures, for the conftest.py of tests that need it. Those in tests/unit do not."""

from __future__ import annotations

import os

import django
import pytest

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.import_plugin("tests.support.django_fixtures")
