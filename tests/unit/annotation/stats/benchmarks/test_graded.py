"""What choices hide, by hand; Spearman against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.stats.benchmarks.graded import Both, compute_hidden, rank_correlation

ROWS = [
    Both("a", "p", "x", "1", 4, 2),  # as graded
    Both("a", "p", "y", "1", 3, 3),  # a choice without a difference, both good
    Both("b", "p", "x", "2", 3, 2),  # against the grades
    Both("b", "q", "y", "2", 1, 2),  # as graded, both poor
    Both("c", "q", "x", "tie", 2, 2),  # a tie is no preference
]


def test_shares_by_hand():
    found = compute_hidden(ROWS, middle=2.5, bootstrap=0)
    assert (found.n, found.cases, found.annotators) == (5, 3, 2)
    assert (found.no_difference.value, found.no_difference.n_items) == (1 / 4, 4)
    assert (found.same_sign.value, found.same_sign.n_items) == (pytest.approx(2 / 3), 3)
    assert found.opposite.value == 1 / 4
    assert found.both_high.value == 1 / 4
    assert found.both_low.value == 1 / 4
    # in favour of the chosen response: 2, 0, -1, 1
    assert found.difference.value == pytest.approx(2 / 4)
    assert dict(found.by_difference)[0.0] == {"1": 1, "tie": 1, "2": 0}


def test_rank_correlation_is_scipys():
    rng = np.random.default_rng(1)
    x = rng.integers(-1, 2, 300).astype(float)
    y = np.clip(x + rng.integers(-2, 3, 300), -3, 3)
    found = rank_correlation(x, y, [str(k % 40) for k in range(300)], bootstrap=200)
    assert found.value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
    assert found.low < found.value < found.high


def test_one_choice_or_nobody_is_undefined_with_a_reason():
    same = compute_hidden(ROWS[:1], middle=2.5, bootstrap=20)
    assert np.isnan(same.correlation.value)
    assert same.correlation.reason == "no order: one choice or one difference is all there is"
    nobody = compute_hidden([], middle=2.5, bootstrap=20)
    assert nobody.no_difference.reason == nobody.correlation.reason == "nobody both chose and graded"
