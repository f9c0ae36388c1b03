from __future__ import annotations

import math

import numpy as np
import pytest

from simulation.stats.cells import cell_means

NAN = math.nan


def test_means_of_what_is_there():
    # (1 + 3) / 2, and 5 alone
    first, second = cell_means(np.array([[1.0, NAN], [3.0, 5.0]]), ["a", "b"])
    assert (first.value, first.n_items, first.n_raters) == (2, 2, 2)
    assert (second.value, second.n_items) == (5, 1)


def test_profiles_are_units_and_not_dialogues():
    # ten profiles, each with ten equal dialogues: as wide as one dialogue each
    values = np.repeat(np.tile([[0.0], [1.0]], (5, 1)), 10, axis=0)
    [clustered] = cell_means(values, np.repeat(list("abcdefghij"), 10).tolist())
    [once] = cell_means(values[::10], list("abcdefghij"))
    [single] = cell_means(values, [str(n) for n in range(100)])
    assert clustered.n_raters == 10
    assert (clustered.low, clustered.high) == pytest.approx((once.low, once.high))
    assert clustered.low < single.low < single.high < clustered.high


def test_one_profile_has_no_interval():
    [found] = cell_means(np.array([[1.0], [2.0]]), ["a", "a"])
    assert found.value == 1.5
    assert found.reason == "not enough evidence: 1 cluster; at least 8 are needed"


def test_nothing_is_undefined_with_a_reason():
    [found] = cell_means(np.array([[NAN]]), ["a"], reason="nobody said anything")
    assert math.isnan(found.value)
    assert found.reason == "nobody said anything"
    [empty] = cell_means(np.empty((0, 1)), [])
    assert math.isnan(empty.value)


def test_as_many_clusters_as_rows():
    with pytest.raises(ValueError, match="1 rows and 2 clusters"):
        cell_means(np.array([[1.0]]), ["a", "b"])


def test_no_interval_passes_the_ends_of_the_scale():
    few = np.array([[1.0, 4.0]] * 9 + [[0.0, 3.0]])
    open_ended = cell_means(few, [str(n) for n in range(10)])
    within = cell_means(few, [str(n) for n in range(10)], ends=[(0, 1), (1, 4)])
    assert open_ended[0].high > 1
    assert open_ended[1].high > 4
    for one, (low, high) in zip(within, [(0, 1), (1, 4)], strict=True):
        assert low < one.low < one.value < one.high < high
    assert [one.value for one in within] == [one.value for one in open_ended]
