"""Tier probabilities at a predicted logit of difficulty, learnt from tiers that are themselves only probable.

P(tier <= k | z) = expit(c_k + b z), b >= 0 (McCullagh 1980, JRSS B 42:109-142). An item's ratings say P_ik of its tier;
divided by the mean p_k these are likelihoods, and sum_i w_i log sum_k P_ik / p_k P(k | z_i) is maximised: the step
from uncertain classes to covariates of Vermunt (2010, Political Analysis 18:450-469). Posterior means, which ratings
too few draw together, would flatten b.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.table import FloatArray

LEAST_SHARE = 1e-6
"""Of a tier: an empty one keeps a place."""

TINY = 1e-300
FLAT = 1e-9
"""A spread of z below this is none."""

SLOPE_SD, STEP_SD = 1.0, 3.0
"""Priors that keep few items, or empty tiers, near the mean: of b per standard deviation of z, of log steps of c."""


@dataclass(frozen=True, eq=False)
class TierOdds:
    """Fitted odds: slope b, (3,) ascending thresholds c."""

    slope: float
    thresholds: FloatArray

    def probabilities(self, z: FloatArray) -> FloatArray:
        """(n, 4) probability of each of `TIERS` at z (n,)."""
        below = scipy.special.expit(self.thresholds + self.slope * z[:, None])
        return np.diff(np.hstack([np.zeros((len(z), 1)), below, np.ones((len(z), 1))]), axis=1)

    @classmethod
    def flat(cls, tiers: FloatArray, weights: FloatArray) -> "TierOdds":
        """The same probabilities at every z: the mean of those (n, 4) of items of the given weights."""
        return cls(0.0, scipy.special.logit(np.cumsum(_mean_tiers(tiers, weights))[:-1]))


def fit_tier_odds(z: FloatArray, tiers: FloatArray, weights: FloatArray) -> TierOdds:
    """The odds that make the ratings of the items most likely; `tiers` (n, 4) are posterior probabilities."""
    flat, spread = TierOdds.flat(tiers, weights), float(z.std())
    if spread < FLAT:
        return flat
    centre = float(np.average(z, weights=weights))
    likelihood = tiers / _mean_tiers(tiers, weights)
    start = np.r_[0.0, flat.thresholds[0], np.log(np.maximum(np.diff(flat.thresholds), LEAST_SHARE))]
    found = scipy.optimize.minimize(
        _loss, start, args=((z - centre) / spread, likelihood, weights, start), jac=True, method="BFGS"
    )
    if found.x[0] <= 0:
        return flat
    slope = float(found.x[0]) / spread
    return TierOdds(slope, _thresholds(found.x) - slope * centre)


def _mean_tiers(tiers: FloatArray, weights: FloatArray) -> FloatArray:
    shares = np.maximum(np.average(tiers, axis=0, weights=weights), LEAST_SHARE)
    return np.asarray(shares / shares.sum())


def _thresholds(parameters: FloatArray) -> FloatArray:
    return np.cumsum(np.r_[parameters[1], np.exp(parameters[2:])])


def _loss(
    parameters: FloatArray, z: FloatArray, likelihood: FloatArray, weights: FloatArray, prior: FloatArray
) -> tuple[float, FloatArray]:
    """Minus the log posterior per item, and its gradient. The likelihood is linear in the three P(tier <= k)."""
    total = weights.sum()
    below = scipy.special.expit(_thresholds(parameters) + parameters[0] * z[:, None])
    step = likelihood[:, :-1] - likelihood[:, 1:]
    chance = np.maximum(likelihood[:, -1] + (below * step).sum(axis=1), TINY)
    moved = (weights / total / chance)[:, None] * below * (1 - below) * step
    at = moved.sum(axis=0)
    later = np.cumsum(at[::-1])[::-1]  # a step moves its own threshold and all above it
    gradient = np.r_[(moved.sum(axis=1) * z).sum(), later[0], later[1:] * np.exp(parameters[2:])]
    off = (parameters - prior) / np.array([SLOPE_SD, np.inf, STEP_SD, STEP_SD]) ** 2 / total
    pull = float(off @ (parameters - prior)) / 2
    return pull - float(weights @ np.log(chance)) / total, off - gradient
