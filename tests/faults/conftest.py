from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.django_setup import pytest_configure  # noqa: F401  a hook


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is killed, spoilt or attacked takes long."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.long)
