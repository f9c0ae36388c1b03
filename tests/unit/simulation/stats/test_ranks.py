from __future__ import annotations

import numpy as np
import pytest

from simulation.stats.cells import NOT_RANKED, rank_changes

PROFILES = [f"user{n}" for n in range(20)]


def columns(*means: float, spread: float = 0.0) -> list[np.ndarray]:
    noise = np.random.default_rng(3).normal(0, spread, (len(means), 20))
    return [mean + one for mean, one in zip(means, noise, strict=True)]


def test_an_order_that_is_turned_round_without_doubt():
    found = rank_changes(columns(3, 2, 1, spread=0.1), columns(1, 2, 3, spread=0.1), PROFILES, bootstrap=200)
    assert [(one.value, one.low, one.high) for one in found] == [(2, 2, 2), (0, 0, 0), (-2, -2, -2)]
    assert (found[0].n_items, found[0].n_raters, found[0].method) == (20, 20, "simultaneous t")


def test_systems_that_are_as_good_as_each_other_may_change_places():
    found = rank_changes(columns(2, 2.02, spread=1), columns(2.02, 2, spread=1)[::-1], PROFILES, bootstrap=500, seed=1)
    assert all(one.low < one.high for one in found)


def test_ties_share_a_rank():
    (one, other) = rank_changes(columns(1, 1), columns(2, 1), PROFILES, bootstrap=0)
    assert (one.value, other.value) == (-0.5, 0.5)


def test_who_has_no_value_is_not_ranked_and_few_profiles_give_no_interval():
    nothing = np.full(20, np.nan)
    assert {one.reason for one in rank_changes([*columns(1), nothing], columns(1, 2), PROFILES)} == {NOT_RANKED}
    few = rank_changes(columns(1, 2), columns(2, 1), ["a", "b"] * 10)
    assert [one.value for one in few] == [-1, 1]
    assert "at least 8" in (few[0].reason or "")
    assert np.isnan(few[0].low)


@pytest.mark.long
def test_intervals_hold_a_small_change_of_order():
    """Four systems in steps of .05 whose order is turned round: profiles are too few to see more than part of it."""
    rng = np.random.default_rng(1)
    steps, held = 0.05 * np.arange(4)[:, None], 0
    for _ in range(100):
        alike = rng.normal(0, 0.3, (4, 20))
        first, second = alike + steps, alike + steps[::-1] + rng.normal(0, 0.2, (4, 20))
        found = rank_changes(list(first), list(second), PROFILES, bootstrap=1)
        held += all(one.low <= true <= one.high for one, true in zip(found, (-3, -1, 1, 3), strict=True))
    assert held >= 92
