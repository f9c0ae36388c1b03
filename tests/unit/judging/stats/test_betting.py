"""Bounds by betting: hand-made cases, and that they fail no more often than they may."""

import numpy as np
import pytest
from scipy.stats import binom

from judging.stats.betting import BETS, compute_betting_bound, log_capital
from judging.stats.selective import lower_bound


def test_capital_by_hand():
    # two units of one item, one agrees: d = 1 / .5 - 1 = 1 and 0 / .5 - 1 = -1, so the capital is the mean of 1 - b^2
    assert log_capital(np.array([1.0, 0.0]), np.ones(2), 0.5) == pytest.approx(np.log((1 - BETS**2).mean()))


def test_capital_of_units_of_different_size():
    # of 2 items 2 agree, of 1 item none: d / max = (2 / .8 - 2) / 2 = .25 and (0 - 1) / 2 = -.5
    capital = ((1 + 0.25 * BETS) * (1 - 0.5 * BETS)).mean()
    assert log_capital(np.array([2.0, 0.0]), np.array([2.0, 1.0]), 0.8) == pytest.approx(np.log(capital))


def test_units_without_anything_kept_say_nothing():
    some = compute_betting_bound(np.ones(40), np.ones(40), 0.05)
    assert compute_betting_bound(np.r_[np.ones(40), np.zeros(5)], np.r_[np.ones(40), np.zeros(5)], 0.05) == some


@pytest.mark.parametrize(("agreeing", "kept"), [(np.zeros(5), np.ones(5)), (np.zeros(3), np.zeros(3))])
def test_nothing_agrees(agreeing, kept):
    assert compute_betting_bound(agreeing, kept, 0.05) == 0


def test_the_order_does_not_matter():
    rng = np.random.default_rng(0)
    values = rng.random(50)
    assert compute_betting_bound(values, np.ones(50), 0.05) == compute_betting_bound(
        rng.permutation(values), np.ones(50), 0.05
    )


def test_of_yes_and_no_it_is_safer_than_the_exact_bound():
    for k, n in ((30, 30), (90, 100), (180, 200)):
        bound = compute_betting_bound(np.r_[np.ones(k), np.zeros(n - k)], np.ones(n), 0.05)
        assert lower_bound(k, n, 0.05) - 0.05 < bound <= lower_bound(k, n, 0.05)


@pytest.mark.parametrize("ratio", [0.5, 0.8, 0.95])
def test_never_above_the_truth_too_often_exactly(ratio):
    """All outcomes of 40 items: the probability that the capital reaches 1 / delta."""
    n = 40
    reached = [log_capital(np.r_[np.ones(k), np.zeros(n - k)], np.ones(n), ratio) >= np.log(20) for k in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, ratio) @ np.array(reached) <= 0.05


def test_clusters_that_agree_as_one_count_as_one():
    whole = compute_betting_bound(np.full(20, 15.0), np.full(20, 15.0), 0.05)
    assert whole == pytest.approx(compute_betting_bound(np.ones(20), np.ones(20), 0.05))
