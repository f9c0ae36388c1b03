"""Studies count as large here from four handed-in items on; what is left to a worker is written down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from core import row_counts
from core.jobs import waiting


def forget_counts() -> None:
    """Count everything anew."""
    row_counts._counted.clear()


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(row_counts, "LARGE", 3)
    forget_counts()
    cache.clear()
    yield
    forget_counts()
    cache.clear()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Names and arguments of the tasks that were sent."""
    asked: list[Any] = []
    monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: asked.append((name, args)))
    return asked
