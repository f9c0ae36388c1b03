import numpy as np
import pytest
from scipy import stats

from annotation.stats.simultaneous import differences_of, drawn_level, order_of, rank_sets


class TestLevel:
    def test_of_independent_figures_is_that_of_sidak(self):
        # .95^(1/m) each
        level = drawn_level(np.eye(5), 0.95)
        assert level == pytest.approx(0.95**0.2, abs=0.0015)

    def test_of_equal_figures_is_that_of_one(self):
        assert drawn_level(np.ones((4, 4)), 0.95) == pytest.approx(0.95, abs=0.006)

    def test_of_all_pairs_of_means_is_that_of_tukey(self):
        # all differences of k equal independent means: the studentised range (Tukey 1949), as scipy has it
        k = 6
        correlation = np.cov(differences_of(np.eye(k)), rowvar=False, ddof=0)
        correlation /= np.sqrt(np.outer(np.diag(correlation), np.diag(correlation)))
        level = drawn_level(correlation, 0.95)
        many = stats.norm.ppf((1 + level) / 2)
        assert many == pytest.approx(stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2), rel=0.01)
        # with 19 degrees of freedom Tukey's errors are one and the same; ours are a little wide then, never short
        few = stats.t.ppf((1 + level) / 2, 19)
        assert 1 < few / (stats.studentized_range.ppf(0.95, k, 19) / np.sqrt(2)) < 1.05


def test_ranks_by_hand():
    # 1 certainly above 3, 2 above 3, 1 and 2 not told apart
    low, high = np.array([-0.1, 0.1, 0.2]), np.array([0.3, 0.5, 0.6])
    assert rank_sets(low, high, 3) == [(1, 2), (1, 2), (3, 3)]
    assert rank_sets(np.full(3, np.nan), np.full(3, np.nan), 3) == [(1, 3)] * 3


def test_undefined_values_come_last():
    assert order_of([0.1, np.nan, 0.5]) == [2, 0, 1]
