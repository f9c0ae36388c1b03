"""Strengths of assistants from comparisons of two, with ties.

Bradley and Terry (1952), Biometrika 39:324-345; ties after Davidson (1970), "On extending the Bradley-Terry model to
accommodate ties", JASA 65:317-328: P(i beats j) : P(j beats i) : P(tie) = s_i : s_j : nu sqrt(s_i s_j). When there is a
finite solution: Ford (1957), American Mathematical Monthly 64:28-33.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.table import BoolArray, FloatArray

STEPS = 200
CLOSE = 1e-9
RIDGE = 1e-9
"""Added to the second derivative: where all is tied nothing else holds the strengths. It moves no solution."""
LONGEST = 1.0
"""A step changes no log strength by more: far from its top the likelihood is no parabola."""
UNBOUNDED = 10.0
"""A log strength beyond this, 22,000 times the mean, is on its way to infinity: a tie holds it only where losses do."""

NOT_CONNECTED = "some assistants never lost (or never won) against the others: their strength has no bound"


@dataclass(frozen=True, eq=False)
class Strengths:
    """Fitted strengths of b sets of comparisons at once.

    Attributes
    ----------
    log_strength
        (b, k) log s_i, with mean 0 over the assistants; NaN where there is no finite solution.
    tie
        (b,) nu, 0 where nothing was tied.
    """

    log_strength: FloatArray
    tie: FloatArray


def bradley_terry(wins: FloatArray, ties: FloatArray) -> Strengths:
    """Strengths of maximum likelihood by Newton's method, for many tables at once.

    Parameters
    ----------
    wins
        (b, k, k) how often i beat j.
    ties
        (b, k, k) symmetric: how often i and j were tied.
    """
    points = wins.sum(axis=2) + ties.sum(axis=2) / 2
    tied = ties.sum(axis=(1, 2)) / 2
    solvable = is_connected(wins + ties / 2)
    played = np.where(solvable[:, None, None], wins + wins.transpose(0, 2, 1) + ties, 0.0)
    b, k = points.shape
    found = np.zeros((b, k + 1))  # log strengths, and log nu
    for _ in range(STEPS):
        slope, curve = _derivatives(found, points, tied, played)
        slope[~solvable] = 0.0
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        step *= np.minimum(1.0, LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), LONGEST))
        found += step
        if (np.abs(step) < CLOSE).all():
            break
    logs = found[:, :k] - found[:, :k].mean(axis=1, keepdims=True)
    nu = np.where(tied > 0, np.exp(found[:, k]), 0.0)
    finite = solvable & (np.abs(logs) < UNBOUNDED).all(axis=1)
    return Strengths(np.where(finite[:, None], logs, np.nan), np.where(finite, nu, np.nan))


def _derivatives(
    found: FloatArray, points: FloatArray, tied: FloatArray, played: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Slope (b, k + 1) of the log likelihood and minus its second derivative (b, k + 1, k + 1), made invertible.

    Points and ties of a comparison are its sufficient statistics: the slope is what was seen minus what is expected,
    the second derivative their covariance.
    """
    k = points.shape[1]
    log, eta = found[:, :k], np.where(tied > 0, found[:, k], -np.inf)[:, None, None]
    apart = (log[:, :, None] - log[:, None, :]) / 2
    parts = np.exp(apart), np.exp(-apart), np.exp(np.broadcast_to(eta, apart.shape))
    win, loss, tie = (part / sum(parts) for part in parts)
    expected = win + tie / 2
    variance = played * (win + tie / 4 - expected**2)
    curve = np.zeros((len(found), k + 1, k + 1))
    # the mean of the log strengths is free: 1 / k everywhere keeps it where it is
    curve[:, :k, :k] = 1 / k - variance
    at = np.arange(k)
    curve[:, at, at] += variance.sum(axis=2)
    curve[:, :k, k] = curve[:, k, :k] = (played * tie * (loss - win)).sum(axis=2) / 2
    curve[:, k, k] = np.where(tied > 0, (played * tie * (1 - tie)).sum(axis=(1, 2)) / 2, 1.0)
    curve[:, np.arange(k + 1), np.arange(k + 1)] += RIDGE
    slope = np.column_stack([points - (played * expected).sum(axis=2), tied - (played * tie).sum(axis=(1, 2)) / 2])
    return slope, curve


def is_connected(wins: FloatArray) -> BoolArray:
    """(b,) whether every assistant beats every other directly or through others: then strengths are finite.

    ``wins`` (b, k, k) counts ties as half a win for both.
    """
    k = wins.shape[1]
    reach = (wins > 0) | np.eye(k, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(max(k, 2)))))):
        reach = (reach.astype(float) @ reach.astype(float)) > 0
    return np.asarray(reach.all(axis=(1, 2)))
