"""Documents that are about to become JSON."""

from __future__ import annotations

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """The same document with NaN and infinities as null, which is all that JSON can say."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(part) for part in value]
    return value
