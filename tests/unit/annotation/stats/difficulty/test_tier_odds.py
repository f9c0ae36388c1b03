"""Odds of tiers: gradient, the truth from uncertain tiers, and where nothing can be told."""

import numpy as np
import pytest
import scipy

from annotation.stats.difficulty.tier_odds import TierOdds, _loss, fit_tier_odds

CUTS = np.array([-2.0, -0.5, 1.0])


def uncertain(rng, n, slope):
    """z (n,), and posteriors (n, 4) of a rater who errs, under the mean shares as prior."""
    z = rng.normal(size=n)
    below = scipy.special.expit(CUTS + slope * z[:, None])
    p = np.diff(np.hstack([np.zeros((n, 1)), below, np.ones((n, 1))]), axis=1)
    true = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    sight = 0.4 * np.eye(4) + 0.15
    seen = (rng.random((n, 1)) > np.cumsum(sight[true], axis=1)).sum(axis=1).clip(0, 3)
    prior = np.bincount(true, minlength=4) / n
    joint = prior * sight[:, seen].T
    return z, joint / joint.sum(axis=1, keepdims=True)


def test_the_slope_is_not_flattened_by_uncertain_tiers():
    found = [fit_tier_odds(*uncertain(np.random.default_rng(seed), 3000, 1.2), np.ones(3000)) for seed in range(4)]
    assert np.mean([one.slope for one in found]) == pytest.approx(1.2, abs=0.15)
    assert np.mean([one.thresholds for one in found], axis=0) == pytest.approx(CUTS, abs=0.25)


def test_without_a_relation_it_is_near_the_mean():
    z, tiers = uncertain(np.random.default_rng(5), 2000, 0.0)
    found = fit_tier_odds(z, tiers, np.ones(2000)).probabilities(np.array([-1.0, 1.0]))
    assert found == pytest.approx(np.tile(tiers.mean(axis=0), (2, 1)), abs=0.06)


def test_a_relation_the_wrong_way_round_is_none():
    z, tiers = uncertain(np.random.default_rng(6), 500, 1.0)
    found = fit_tier_odds(-z, tiers, np.ones(500))
    assert found.slope == 0
    assert found.probabilities(z)[0] == pytest.approx(tiers.mean(axis=0))


def test_flat_shares_are_weighted():
    tiers = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]])
    found = TierOdds.flat(tiers, np.array([3.0, 1.0])).probabilities(np.zeros(1))[0]
    assert found == pytest.approx([0.75, 0, 0, 0.25], abs=1e-5)


def test_a_tier_that_hardly_any_item_is_in_does_not_follow_z():
    z, tiers = uncertain(np.random.default_rng(8), 400, 1.0)
    tiers[:, 0] *= 0.01
    tiers /= tiers.sum(axis=1, keepdims=True)
    found = fit_tier_odds(z, tiers, np.ones(400))
    assert found.slope > 0.3
    assert np.ptp(found.probabilities(z)[:, 0]) == 0
    assert found.probabilities(z)[0, 0] == pytest.approx(tiers[:, 0].mean())
    assert found.probabilities(z).sum(axis=1) == pytest.approx(1)


def test_one_z_for_all_and_one_tier_for_all():
    _, tiers = uncertain(np.random.default_rng(7), 100, 1.0)
    assert fit_tier_odds(np.full(100, 2.0), tiers, np.ones(100)).slope == 0
    easy = np.tile([0.0, 0.0, 0.0, 1.0], (50, 1))
    assert fit_tier_odds(np.arange(50.0), easy, np.ones(50)).probabilities(np.zeros(1)).tolist() == [[0, 0, 0, 1]]


def test_the_gradient_is_that_of_the_loss():
    z, tiers = uncertain(np.random.default_rng(9), 50, 1.0)
    weights = np.random.default_rng(1).uniform(0.5, 2, 50)
    given = (z, tiers / tiers.mean(axis=0), weights, np.array([0.0, -1.5, 0.1, 0.3]))
    at = np.array([0.7, -1.6, 0.2, 0.4])
    numeric = scipy.optimize.approx_fprime(at, lambda parameters: _loss(parameters, *given)[0], 1e-7)
    assert _loss(at, *given)[1] == pytest.approx(numeric, abs=1e-5)
