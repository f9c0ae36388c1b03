from __future__ import annotations

from tests.db.judging.api_client import alice  # noqa: F401  a fixture
