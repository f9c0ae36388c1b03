from __future__ import annotations

from tests.support.asked_server import server  # noqa: F401  a fixture
