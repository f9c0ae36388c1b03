"""Public material that lies beside the project, and shortcuts for tables in tests."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.stats.cohen import CategoryDistances, pairs_statistic
from annotation.stats.table import RatingTable
from tests.support.paths import SHARED


def shared(path: str) -> Path:
    """A file of the public material; skips the test where it is absent."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"public material not present: {path}")
    return found


def load(path: str) -> Any:
    return json.loads(shared(path).read_text(encoding="utf-8"))


def from_crosstab(table, **more) -> RatingTable:
    """Two raters whose answers cross as ``table`` (rows the first rater)."""
    counts = np.asarray(table)
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    codes = np.column_stack([np.repeat(rows, times), np.repeat(columns, times)])
    return from_codes(codes, q=len(counts), **more)


def from_codes(codes, *, q: int, level: str = "nominal", **more) -> RatingTable:
    """A table of codes with -1 for missing, on a scale 0 … q - 1."""
    array = np.asarray(codes)
    items = tuple(str(i) for i in range(len(array)))
    raters = tuple(f"r{j + 1}" for j in range(array.shape[1]))
    return RatingTable(array, tuple(range(q)), level, items, raters, **more)


def value(result, name: str) -> float:
    """The value of one coefficient of an agreement result."""
    return result.coefficients[name].value


def cohen_kappa(a, b, weights) -> float:
    """Cohen's kappa of two raters' codes (n_items,) with (q, q) agreement weights; NaN where undefined."""
    distances = CategoryDistances(1 - weights, 1 - weights)
    statistic = pairs_statistic(np.column_stack([a, b]), [(0, 1)], len(weights), distances)
    return float(statistic.evaluate(np.ones((1, len(a))))[0, 1])
