"""The proportional-odds model of one ordered answer given one score.

McCullagh (1980), "Regression models for ordinal data", JRSS B 42:109-142: P(Y <= k | x) = 1 / (1 + exp(slope x - c_k)).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.table import FloatArray, IntArray
from judging.stats.audits.trait_fit import NoConvergenceError

RIDGE = 1e-3
"""Weight of the squared parameters in the fit: keeps it finite where the scores separate the answers completely or a
category never occurs; too small to matter elsewhere."""

TINY = 1e-12

MOST_STEPS = 500
STEEP = 1e-4
"""Largest derivative per answer at which a search that gave up has arrived all the same."""


@dataclass(frozen=True, eq=False)
class ProportionalOdds:
    """A fitted model.

    Attributes
    ----------
    slope
        Log odds per unit of the score; above 0 a higher score goes with a higher category.
    thresholds
        (q - 1,) ascending c_k.
    """

    slope: float
    thresholds: FloatArray

    @classmethod
    def fit(
        cls, scores: FloatArray, codes: IntArray, n_categories: int, *, weights: FloatArray | None = None
    ) -> "ProportionalOdds":
        """Penalised maximum likelihood.

        Parameters
        ----------
        scores, codes
            (n,) the score and the answer, 0 … q - 1.
        n_categories
            q, at least 2.
        weights
            (n,) one over the inclusion probability, to any factor; equal by default.

        Raises
        ------
        NoConvergenceError
            If the search for the greatest likelihood does not arrive.
        """
        times = np.ones(len(scores)) if weights is None else weights / weights.mean()
        centre, spread = float(scores.mean()), float(scores.std()) or 1.0
        x = (scores - centre) / spread
        start = np.r_[0.0, -1.0, np.zeros(n_categories - 2)]
        found = scipy.optimize.minimize(
            _penalised, start, args=(x, codes, times), jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS}
        )
        if not found.success and not np.abs(found.jac).max() <= STEEP * len(scores):
            raise NoConvergenceError(f"the proportional-odds model did not converge in {found.nit} steps")
        slope = float(found.x[0]) / spread
        return cls(slope, _thresholds(found.x) + slope * centre)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """(n, q) probability of each answer."""
        below = scipy.special.expit(self.thresholds[None, :] - self.slope * scores[:, None])
        ends = np.zeros((len(scores), 1)), np.ones((len(scores), 1))
        return np.diff(np.hstack([ends[0], below, ends[1]]), axis=1)


def _thresholds(parameters: FloatArray) -> FloatArray:
    """c_1 and then steps exp(.) upwards, so that they ascend whatever the parameters."""
    ascending: FloatArray = np.cumsum(np.r_[parameters[1], np.exp(parameters[2:])])
    return ascending


def _penalised(parameters: FloatArray, x: FloatArray, codes: IntArray, times: FloatArray) -> tuple[float, FloatArray]:
    """Minus the log likelihood with the ridge, each answer counted ``times`` (n,), and its gradient."""
    thresholds = _thresholds(parameters)
    edges = np.r_[-np.inf, thresholds, np.inf]
    line = parameters[0] * x
    upper, lower = scipy.special.expit(edges[codes + 1] - line), scipy.special.expit(edges[codes] - line)
    chance = np.maximum(upper - lower, TINY)
    up, down = times * upper * (1 - upper) / chance, times * lower * (1 - lower) / chance
    q = len(thresholds)
    at = np.bincount(codes, up, minlength=q + 1)[:q] - np.bincount(codes, down, minlength=q + 1)[1:]
    later = np.cumsum(at[::-1])[::-1]  # a step moves its own threshold and all above it
    gradient = np.r_[-(x * (up - down)).sum(), later[0], later[1:] * np.exp(parameters[2:])]
    value = -(times @ np.log(chance)) + RIDGE * (parameters**2).sum()
    return float(value), -gradient + 2 * RIDGE * parameters
