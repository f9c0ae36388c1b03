from __future__ import annotations

from tests.db.judging.evaluations.services.conftest import server  # noqa: F401  a fixture
