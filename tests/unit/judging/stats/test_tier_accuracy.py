"""Agreement of a judge within tiers that are only probable."""

import numpy as np
import pytest

from annotation.stats.bands import TIERS
from judging.stats.tier_accuracy import accuracy_by_tier, accuracy_on_new


def test_items_count_by_the_probability_of_the_tier():
    agreement = np.array([1.0, 0.0, 1.0, np.nan])
    tiers = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]])
    found = accuracy_by_tier(agreement, tiers)
    assert found.items == {"contested": 1.5, "hard": 1.0, "medium": 0.0, "easy": 0.5}
    assert found.accuracy["contested"].value == pytest.approx(1 / 1.5)
    assert found.accuracy["hard"].value == pytest.approx(0.5)
    assert np.isnan(found.accuracy["medium"].value)
    assert found.accuracy["easy"].reason == "less than one item is expected in this tier"
    assert found.sure == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert list(found.to_json()["by_tier"]) == list(TIERS[::-1])


def test_with_weights():
    tiers = np.tile([0, 0, 0, 1.0], (4, 1))
    found = accuracy_by_tier(np.array([1.0, 0, 0, 0]), tiers, weights=np.array([3.0, 1, 1, 1]))
    assert found.accuracy["easy"].value == pytest.approx(0.5)


def test_on_new_items_the_tiers_figures_are_mixed_as_these_are():
    rng = np.random.default_rng(1)
    tiers, new = rng.dirichlet(np.ones(4), 200), rng.dirichlet([4, 1, 1, 1], 50)
    agreement = (rng.random(200) < 0.3 + 0.6 * tiers[:, 3]).astype(float)
    by_tier = accuracy_by_tier(agreement, tiers).accuracy
    found = accuracy_on_new(agreement, tiers, new)
    assert found.value == pytest.approx(sum(new[:, k].mean() * by_tier[tier].value for k, tier in enumerate(TIERS)))
    assert found.low < found.value < found.high


def test_no_new_items_and_no_agreement():
    tiers = np.full((3, 4), 0.25)
    assert accuracy_on_new(np.ones(3), tiers, np.empty((0, 4))).reason == "there is no item to predict"
    assert accuracy_on_new(np.full(3, np.nan), tiers, tiers).reason == "no items with label and verdict"
    assert np.isnan(accuracy_by_tier(np.full(3, np.nan), tiers).sure)
