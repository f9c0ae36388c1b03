"""Several differences at once: intervals that all hold together, and the ranks that they leave possible.

Single-step max-t after Hothorn, Bretz and Westfall (2008), "Simultaneous inference in general parametric models",
Biometrical Journal 50:346-363: the largest of several correlated statistics is drawn, and the level of each interval is
set so that all of them hold with the stated confidence. Ranks after Mogstad, Romano, Shaikh and Wilhelm (2024),
"Inference for ranks with applications to mobility across neighbourhoods and academic achievement across countries",
Review of Economic Studies 91:476-518: who lies below whom in every interval of the differences.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy

from annotation.stats.jackknife import Jackknife
from annotation.stats.resampling import Resampling
from annotation.stats.table import BoolArray, FloatArray

DRAWS = 10_000

SAME = 1e-12


def pairs_of(k: int) -> list[tuple[int, int]]:
    """Every two of k, the first before the second."""
    return list(combinations(range(k), 2))


def differences_of(values: FloatArray) -> FloatArray:
    """(…, k (k - 1) / 2) every value minus every later one, from (…, k)."""
    pairs = np.array(pairs_of(values.shape[-1]), dtype=np.int64).reshape(-1, 2)
    found: FloatArray = values[..., pairs[:, 0]] - values[..., pairs[:, 1]]
    return found


def level_of_each(knife: Jackknife, resampling: Resampling, confidence: float, *, seed: int = 0) -> float:
    """The confidence of each t interval with which all of them hold with ``confidence``; figures without one apart."""
    known = ~np.isnan(knife.df)
    if known.sum() < 2:
        return confidence
    size = resampling.stratum_sizes
    freed = (size / np.maximum(size - 1, 1))[resampling.stratum]
    influence = knife.influence[:, known] / knife.se[known]
    correlation = (influence * (resampling.times * freed)[:, None]).T @ influence
    return drawn_level(correlation, confidence, seed=seed)


def drawn_level(correlation: FloatArray, confidence: float, *, seed: int = 0) -> float:
    """The same from the (m, m) correlation of the figures.

    What is drawn are p-values of correlated normal figures. Each interval then takes the quantile of its own degrees of
    freedom at the level found, which is a little wide where standard errors err together.
    """
    rng = np.random.default_rng(seed)
    roots, vectors = np.linalg.eigh(correlation)
    normal = rng.standard_normal((DRAWS, len(roots))) @ (vectors * np.sqrt(np.maximum(roots, 0.0))).T
    furthest = np.quantile(np.abs(normal).max(axis=1), confidence)
    return float(1 - 2 * scipy.special.ndtr(-furthest))


def rank_sets(low: FloatArray, high: FloatArray, k: int) -> list[tuple[int, int]]:
    """Best and worst rank (1 is best) of each of k that the intervals of their `differences_of` leave possible.

    A difference without an interval (NaN) leaves both orders possible.
    """
    better, worse = _settled(low, high, k)
    return [(1 + int(better[i].sum()), k - int(worse[i].sum())) for i in range(k)]


def _settled(low: FloatArray, high: FloatArray, k: int) -> tuple[BoolArray, BoolArray]:
    """(k, k) who certainly lies above each of k, and who certainly below."""
    above = np.zeros((k, k), dtype=bool)  # above[i, j]: j lies above i
    for (i, j), bottom, top in zip(pairs_of(k), low.tolist(), high.tolist(), strict=True):
        above[j, i], above[i, j] = bottom > SAME, top < -SAME
    return above, above.T


def order_of(values: Sequence[float]) -> list[int]:
    """Places from the highest value to the lowest, undefined ones last."""
    return sorted(range(len(values)), key=lambda i: (np.isnan(values[i]), -values[i] if values[i] == values[i] else 0))
