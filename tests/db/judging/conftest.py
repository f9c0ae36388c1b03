from __future__ import annotations

from tests.support.large import all_are_large, sent  # noqa: F401  fixtures
from tests.support.paid import paid  # noqa: F401  a fixture
