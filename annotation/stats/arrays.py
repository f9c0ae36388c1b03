"""Small operations on arrays that several statistics share."""

import numpy as np

from annotation.stats.table import FloatArray, IntArray


def sum_by_group(values: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """(…, k) sums of ``values`` (…, n) by group; ``group`` (n,) uses every index from 0 to k - 1."""
    if not n_groups:
        return np.zeros((*values.shape[:-1], 0))
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    summed: FloatArray = np.add.reduceat(values[..., order], starts, axis=-1)
    return summed


FINEST = 2.0**-40
"""Steps of a scale finer than this share of its range count as so wide: their squares stay small numbers."""


def find_smallest_step(places: FloatArray) -> float:
    """The smallest distance of two different ``places``, at least `FINEST` of their range; 1 where there are no two."""
    ordered = np.unique(places)
    if len(ordered) < 2:
        return 1.0
    return float(max(np.diff(ordered).min(), FINEST * (ordered[-1] - ordered[0])))


def ratio(numerator: FloatArray, denominator: FloatArray, *, tiny: float = 1e-12) -> FloatArray:
    """``numerator / denominator``, NaN where the denominator is zero up to rounding (``tiny``).

    Leaving an item out subtracts its row, so an exact zero can arrive as 1e-17.
    """
    size = np.abs(denominator)
    if size.min(initial=np.inf) > tiny:
        whole: FloatArray = np.asarray(numerator / denominator)
        return whole
    defined = size > tiny
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)
