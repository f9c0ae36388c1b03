"""When the labels will be there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotation.stats.forecast import FAR, forecast


def test_an_even_pace_ends_where_division_says() -> None:
    found = forecast([10] * 7, 35)
    assert (found.value, found.low, found.high) == (3.5, 3.5, 3.5)
    assert found.mean == 10


def test_an_uneven_pace_gets_an_interval_around_its_mean() -> None:
    found = forecast([0, 20, 0, 20, 0, 20, 10], 100, seed=3)
    assert found.low < 10 < found.high
    assert found.low == forecast([0, 20, 0, 20, 0, 20, 10], 100, seed=3).low


def test_far_ahead_only_the_mean_is_uncertain() -> None:
    counts = np.random.default_rng(1).poisson(5, 14)
    near, far = forecast(counts, 5 * FAR - 50), forecast(counts, 50 * FAR)
    assert near.high / near.low == pytest.approx(far.high / far.low, rel=0.15)


@pytest.mark.parametrize(
    ("counts", "remaining", "value", "reason"),
    [
        ([3, 4], 0, 0.0, None),
        ([], 5, np.nan, "no whole hour or day"),
        ([0, 0, 0], 5, np.nan, "no labels in the last 3 periods"),
        ([5], 10, 2.0, "no interval: it needs 3 periods, and there is 1"),
        ([0, 0, 0, 0, 0, 0, 9], 9, None, "no upper end"),
        ([0] * 60 + [5], 50, None, "nobody goes on"),
    ],
)
def test_what_cannot_be_told_says_why(counts, remaining, value, reason) -> None:
    found = forecast(counts, remaining)
    assert found.reason == reason or reason in found.reason
    if value is not None:
        np.testing.assert_equal(found.value, value)


@pytest.mark.parametrize("given", [{"counts": [-1], "remaining": 3}, {"counts": [1], "remaining": -3}])
def test_what_makes_no_sense_is_refused(given) -> None:
    with pytest.raises(ValueError):
        forecast(**given)


def test_intervals_hold_what_they_promise() -> None:
    """Three weeks seen of people whose days differ (negative binomial), the rest to come: 95 % nominal."""
    rng = np.random.default_rng(20)
    hit = 0
    for _ in range(400):
        days = rng.negative_binomial(2, 0.1, 200)
        found = forecast(days[:21], 300, draws=400, seed=int(rng.integers(2**31)))
        ends = np.cumsum(days[21:])
        first = int((ends >= 300).argmax())
        truth = first + (300 - (ends[first] - days[21 + first])) / days[21 + first]
        hit += found.low <= truth <= found.high
    # 21 days of such a spread: a bootstrap of the mean is a little short; below 90 % it would mislead
    assert stats.binom.ppf(0.001, 400, 0.92) <= hit <= 400
