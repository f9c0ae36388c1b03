from __future__ import annotations

from tests.judging.evaluations.services.conftest import server  # noqa: F401  a fixture
