"""What every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data that lies beside the project; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real data folder ../shared/data is not there")
    return SHARED
