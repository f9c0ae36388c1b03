"""Tier probabilities at a predicted logit of difficulty, learnt from tiers that are themselves only probable.

P(tier <= k | z) = expit(c_k + b z), b >= 0 (McCullagh 1980, JRSS B 42:109-142). An item's ratings say P_ik of its tier;
divided by the mean p_k these are likelihoods, and sum_i w_i log sum_k P_ik / p_k P(k | z_i) is maximised: the step
from uncertain classes to covariates of Vermunt (2010, Political Analysis 18:450-469). Posterior means, which ratings
too few draw together, would flatten b. A tier that hardly any item is in keeps its share whatever z.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.table import FloatArray, IntArray

LEAST_SHARE = 0.01
"""Of a tier whose probability depends on z."""

TINY = 1e-300
FLAT = 1e-9
"""A spread of z below this is none."""

SLOPE_SD, STEP_SD = 1.0, 3.0
"""Priors that keep few items near the mean: of b per standard deviation of z, of log steps of c."""


@dataclass(frozen=True, eq=False)
class TierOdds:
    """Fitted odds.

    Attributes
    ----------
    slope, thresholds
        b, and the (m - 1,) ascending c_k of the m tiers that depend on z.
    shares
        (4,) mean share of each of `TIERS`.
    """

    slope: float
    thresholds: FloatArray
    shares: FloatArray

    def probabilities(self, z: FloatArray) -> FloatArray:
        """(n, 4) probability of each of `TIERS` at z (n,)."""
        below = scipy.special.expit(self.thresholds + self.slope * z[:, None])
        ends = np.zeros((len(z), 1)), np.ones((len(z), 1))
        found = np.tile(self.shares, (len(z), 1))
        there = _common(self.shares)
        found[:, there] = np.diff(np.hstack([ends[0], below, ends[1]]), axis=1) * self.shares[there].sum()
        return found

    @classmethod
    def flat(cls, tiers: FloatArray, weights: FloatArray) -> "TierOdds":
        """The same probabilities at every z: the mean of those (n, 4) of items of the given weights."""
        shares = np.average(tiers, axis=0, weights=weights)
        there = shares[_common(shares)]
        return cls(0.0, scipy.special.logit(np.cumsum(there)[:-1] / there.sum()), shares)


def fit_tier_odds(z: FloatArray, tiers: FloatArray, weights: FloatArray) -> TierOdds:
    """The odds that make the ratings of the items most likely; `tiers` (n, 4) are posterior probabilities."""
    flat, spread = TierOdds.flat(tiers, weights), float(z.std())
    if spread < FLAT or not len(flat.thresholds):
        return flat
    there = _common(flat.shares)
    centre = float(np.average(z, weights=weights))
    likelihood = tiers[:, there] / flat.shares[there]
    start = np.r_[0.0, flat.thresholds[0], np.log(np.diff(flat.thresholds))]
    found = scipy.optimize.minimize(
        _loss, start, args=((z - centre) / spread, likelihood, weights, start), jac=True, method="BFGS"
    )
    if found.x[0] <= 0:
        return flat
    slope = float(found.x[0]) / spread
    return TierOdds(slope, _thresholds(found.x) - slope * centre, flat.shares)


def _common(shares: FloatArray) -> IntArray:
    """(m,) places of the tiers that depend on z, one at least."""
    return np.flatnonzero(shares >= min(LEAST_SHARE, shares.max()))


def _thresholds(parameters: FloatArray) -> FloatArray:
    """c_1 and then steps exp(.) upwards, so that they ascend whatever the parameters."""
    return np.cumsum(np.r_[parameters[1], np.exp(parameters[2:])])


def _loss(
    parameters: FloatArray, z: FloatArray, likelihood: FloatArray, weights: FloatArray, prior: FloatArray
) -> tuple[float, FloatArray]:
    """Minus the log posterior per item, and its gradient. The likelihood is linear in the m - 1 P(tier <= k)."""
    total = weights.sum()
    below = scipy.special.expit(_thresholds(parameters) + parameters[0] * z[:, None])
    step = likelihood[:, :-1] - likelihood[:, 1:]
    chance = np.maximum(likelihood[:, -1] + (below * step).sum(axis=1), TINY)
    moved = (weights / total / chance)[:, None] * below * (1 - below) * step
    at = moved.sum(axis=0)
    later = np.cumsum(at[::-1])[::-1]  # a step moves its own threshold and all above it
    gradient = np.r_[(moved.sum(axis=1) * z).sum(), later[0], later[1:] * np.exp(parameters[2:])]
    scale = np.r_[SLOPE_SD, np.inf, np.full(len(parameters) - 2, STEP_SD)]
    off = (parameters - prior) / scale**2 / total
    pull = float(off @ (parameters - prior)) / 2
    return pull - float(weights @ np.log(chance)) / total, off - gradient
