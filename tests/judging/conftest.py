from __future__ import annotations

from tests.judging.paid import paid  # noqa: F401  a fixture
