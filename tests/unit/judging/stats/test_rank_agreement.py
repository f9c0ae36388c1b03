"""Ranks of models beside those of another benchmark: as scipy has them, with intervals that resample personas."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.stats

from judging.stats.benchmark import Cases, Sheet, unanimous_tiers
from judging.stats.rank_agreement import ALL_ALIKE, TOO_FEW, bound_correlations, compare_ranks, rank_correlations


def cases(n: int = 60, *, votes=None, tier="easy") -> Cases:
    return Cases(
        ids=np.arange(n),
        persona=np.arange(n) % 12,
        n_personas=12,
        tier=np.full(n, tier) if isinstance(tier, str) else np.array(tier),
        kind=np.full(n, "general"),
        gold=np.ones(n, dtype=np.int64),
        longer=np.zeros(n, dtype=np.int64),
        kappa=np.ones(n),
        votes=np.tile([9.0, 0.0, 0.0], (n, 1)) if votes is None else np.array(votes, dtype=float),
    )


def scores(*shares: float, n: int = 60) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [(rng.random(n) < share).astype(float) for share in shares]


def test_correlations_are_scipys_also_with_ties():
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b = rng.integers(0, 6, 8).astype(float), rng.integers(0, 6, 8).astype(float)
        spearman, kendall = rank_correlations(a, b)
        assert spearman == pytest.approx(scipy.stats.spearmanr(a, b).statistic)
        assert kendall == pytest.approx(scipy.stats.kendalltau(a, b).statistic)


def test_the_interval_holds_the_value_and_says_how_many_models():
    found = scores(0.5, 0.6, 0.7, 0.8, 0.9)
    spearman, kendall = compare_ranks(found, [1, 2, 3, 4, 5], Sheet(cases(), bootstrap=300))
    means = [one.mean() for one in found]
    assert spearman.value == pytest.approx(scipy.stats.spearmanr(means, range(5)).statistic)
    assert spearman.low <= spearman.value <= spearman.high
    assert (spearman.n_items, kendall.n_items) == (5, 5)
    assert kendall.value <= 1


def test_intervals_hold_the_order_of_models_that_are_nearly_alike():
    """Five models in steps of .05 whose order is the other benchmark's: the correlation of the population is 1."""
    rng, personas, held = np.random.default_rng(1), np.arange(60) % 12, 0
    for _ in range(100):
        shares = 0.6 + 0.05 * np.arange(5)[:, None] + rng.normal(0, 0.08, 12)[personas]
        answers = list((rng.random((5, 60)) < shares).astype(float))
        found = compare_ranks(answers, [1, 2, 3, 4, 5], Sheet(cases(), bootstrap=1))
        held += all(one.low <= 1 <= one.high + 1e-9 for one in found)
    assert held >= 92


def test_intervals_of_rank_correlations_run_over_all_orders_that_are_possible():
    """By enumeration: all orders of four models of which the first is certainly above the last."""
    low, high = np.array([-1, -1, 0.1, -1, -1, -1.0]), np.ones(6)
    theirs = np.array([3.0, 1, 2, 4])
    orders = [np.array(one) for one in permutations(range(1, 5)) if one[0] < one[3]]
    found = [rank_correlations(-one, theirs) for one in orders]
    ends = bound_correlations(low, high, theirs)
    assert ends[0] == pytest.approx([min(one[0] for one in found), max(one[0] for one in found)], abs=0.21)
    assert (ends[:, 0] <= np.min(found, axis=0) + 1e-9).all()
    assert (ends[:, 1] >= np.max(found, axis=0) - 1e-9).all()
    nothing_known = bound_correlations(-high, high, theirs)
    assert nothing_known == pytest.approx(np.array([[-1, 1], [-1, 1]]))


def test_too_few_models_and_equal_ranks_have_no_correlation():
    for m, theirs, reason in ((2, [1, 2], TOO_FEW), (0, [], TOO_FEW), (3, [4, 4, 4], ALL_ALIKE)):
        spearman, kendall = compare_ranks(scores(*[0.7] * m), theirs, Sheet(cases(), bootstrap=50))
        assert np.isnan([spearman.value, kendall.value]).all()
        assert (spearman.reason, kendall.reason) == (reason, reason)


def test_a_tier_of_unanimous_votes_is_told():
    votes = [[9, 0, 0], [0, 9, 0], [8, 1, 0], [np.nan] * 3]
    found = unanimous_tiers(cases(4, votes=votes, tier=["easy", "easy", "hard", "easy"]))
    assert found == {"easy": 2}
    assert unanimous_tiers(cases(2, votes=[[9, 0, 0], [8, 1, 0]])) == {}
