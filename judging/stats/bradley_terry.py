"""Strengths of assistants from comparisons of two, with ties.

Bradley and Terry (1952), Biometrika 39:324-345; ties after Davidson (1970), "On extending the Bradley-Terry model to
accommodate ties", JASA 65:317-328: P(i beats j) : P(j beats i) : P(tie) = s_i : s_j : nu sqrt(s_i s_j). When there is a
finite solution: Ford (1957), American Mathematical Monthly 64:28-33.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.table import BoolArray, FloatArray

STEPS = 2000
CLOSE = 1e-9
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
    """Strengths of maximum likelihood by Davidson's iteration, for many tables at once.

    Parameters
    ----------
    wins
        (b, k, k) how often i beat j.
    ties
        (b, k, k) symmetric: how often i and j were tied.
    """
    points = wins.sum(axis=2) + ties.sum(axis=2) / 2
    played = wins + wins.transpose(0, 2, 1) + ties
    tied = ties.sum(axis=(1, 2)) / 2
    solvable = connected(wins + ties / 2)
    b, k = points.shape
    strength, nu = np.ones((b, k)), np.where(tied > 0, 1.0, 0.0)
    for _ in range(STEPS):
        before = strength
        root = np.sqrt(strength[:, :, None] * strength[:, None, :])
        either = strength[:, :, None] + strength[:, None, :] + nu[:, None, None] * root
        slope = (1 + nu[:, None, None] * np.sqrt(strength[:, None, :] / strength[:, :, None]) / 2) / either
        strength = np.where(solvable[:, None], ratio(points, (played * slope).sum(axis=2)), 1.0)
        strength = strength / np.exp(np.log(strength).mean(axis=1, keepdims=True))
        nu = ratio(tied, (played * root / either).sum(axis=(1, 2)) / 2)
        nu = np.nan_to_num(nu)
        if (np.abs(strength / before - 1) < CLOSE).all():
            break
    logs = np.where(solvable[:, None], np.log(strength), np.nan)
    return Strengths(logs, np.where(solvable, nu, np.nan))


def connected(wins: FloatArray) -> BoolArray:
    """(b,) whether every assistant beats every other directly or through others: then strengths are finite.

    ``wins`` (b, k, k) counts ties as half a win for both.
    """
    k = wins.shape[1]
    reach = (wins > 0) | np.eye(k, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(max(k, 2)))))):
        reach = (reach.astype(float) @ reach.astype(float)) > 0
    return np.asarray(reach.all(axis=(1, 2)))
