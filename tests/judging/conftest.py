from __future__ import annotations

from tests.judging.large import all_are_large, sent  # noqa: F401  fixtures
from tests.judging.paid import paid  # noqa: F401  a fixture
