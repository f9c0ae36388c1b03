import numpy as np
import pytest
from scipy import stats

from annotation.stats.simultaneous import compute_differences, compute_order, level_of_each, list_pairs, rank_sets


def test_levels_are_those_of_bonferroni_and_hold_together_as_tukeys_do():
    # all differences of six equal independent means: the studentised range (Tukey 1949) is exact, Bonferroni a bit wide
    level = level_of_each(0.95, len(list_pairs(6)))
    assert level == pytest.approx(1 - 0.05 / 15)
    for df in (19, 100):
        factor = stats.t.ppf((1 + level) / 2, df) / (stats.studentized_range.ppf(0.95, 6, df) / np.sqrt(2))
        assert 1 < factor < 1.1
    assert level_of_each(0.95, 1) == pytest.approx(0.95)


def test_differences_are_of_every_two():
    assert compute_differences(np.array([5.0, 3.0, 2.0])).tolist() == [2, 3, 1]


def test_ranks_by_hand():
    # 1 certainly above 3, 2 above 3, 1 and 2 not told apart
    low, high = np.array([-0.1, 0.1, 0.2]), np.array([0.3, 0.5, 0.6])
    assert rank_sets(low, high, 3) == [(1, 2), (1, 2), (3, 3)]
    assert rank_sets(np.full(3, np.nan), np.full(3, np.nan), 3) == [(1, 3)] * 3


def test_undefined_values_come_last():
    assert compute_order([0.1, np.nan, 0.5]) == [2, 0, 1]
