"""Ridge regression with a penalty chosen across folds of clusters (Hoerl and Kennard 1970, Technometrics 12:55-67)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.table import BoolArray, FloatArray, IntArray

PENALTIES: FloatArray = np.logspace(-3, 2, 11)
"""Per item, for columns of variance 1."""

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Ridge:
    """A fitted regression of y on k columns with gaps.

    Attributes
    ----------
    centre, scale
        (k,) mean and standard deviation of each column; a gap takes the mean.
    slopes
        (k,) change of y by one standard deviation of a column.
    level
        Mean of y.
    penalty
        Of the squared slopes, per item.
    """

    centre: FloatArray
    scale: FloatArray
    slopes: FloatArray
    level: float
    penalty: float

    def predict(self, x: FloatArray) -> FloatArray:
        """(n,) y at columns (n, k)."""
        return self.level + _standardised(x, self.centre, self.scale) @ self.slopes


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A regression with its penalty, and what it says of each item (n,) when fitted without the item's fold."""

    ridge: Ridge
    out_of_fold: FloatArray


def fit_ridge(x: FloatArray, y: FloatArray, weights: FloatArray, fold: IntArray) -> CrossFit:
    """The regression of y (n,) on x (n, k) with the penalty of the smallest weighted squared error out of fold."""
    held = np.empty((len(y), len(PENALTIES)))
    for k in np.unique(fold).tolist():
        inside: BoolArray = fold == k
        for place, one in enumerate(_path(x[~inside], y[~inside], weights[~inside], PENALTIES)):
            held[inside, place] = one.predict(x[inside])
    best = int(np.argmin(weights @ (held - y[:, None]) ** 2))
    return CrossFit(_path(x, y, weights, PENALTIES[best : best + 1])[0], held[:, best])


def deal_folds(clusters: Sequence[str], folds: int, seed: int) -> IntArray:
    """(n,) fold of each item, 0 … folds - 1: clusters dealt out at random, the largest first, evenly by items."""
    names, unit, sizes = np.unique(np.asarray(clusters, object).astype(str), return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(names))
    filled, of_cluster = np.zeros(folds, dtype=np.int64), np.empty(len(names), dtype=np.int64)
    for one in shuffled[np.argsort(-sizes[shuffled], kind="stable")].tolist():
        of_cluster[one] = int(np.argmin(filled))
        filled[of_cluster[one]] += sizes[one]
    return of_cluster[unit.ravel()]


def _path(x: FloatArray, y: FloatArray, weights: FloatArray, penalties: FloatArray) -> list[Ridge]:
    """One regression for each penalty, from one decomposition of the columns' covariance."""
    share = weights / weights.sum()
    centre, scale = _moments(x, share)
    z, level = _standardised(x, centre, scale), float(share @ y)
    z_centred = z - share @ z
    values, vectors = np.linalg.eigh(z_centred.T @ (share[:, None] * z_centred))
    along = vectors.T @ (z_centred.T @ (share * (y - level)))
    return [
        Ridge(centre, scale, vectors @ (along / (np.maximum(values, 0.0) + penalty)), level, float(penalty))
        for penalty in penalties
    ]


def _moments(x: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(k,) weighted means and standard deviations of what is known of each column; 0 and 1 where nothing varies."""
    known = ~np.isnan(x)
    held, filled = share @ known, np.where(known, x, 0.0)
    centre = np.where(held > 0, share @ filled / np.where(held > 0, held, 1.0), 0.0)
    spread = np.sqrt(share @ np.where(known, x - centre, 0.0) ** 2 / np.where(held > 0, held, 1.0))
    return centre, np.where(spread > 0, spread, 1.0)


def _standardised(x: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray(np.where(np.isnan(x), 0.0, (x - centre) / scale))
