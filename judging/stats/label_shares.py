"""People's label of an item as shares of the categories, so that a tie counts in part, and what agrees with it.

The rule for ties: each of the categories that share the first place has an equal share of the label. A verdict that is
one of two tied categories agrees by a half.
"""

import numpy as np

from annotation.stats.table import MISSING, FloatArray, IntArray

SAME = 1e-9
"""Categories whose distances from a score differ by less are equally near; the difference is rounding."""


def nearest_shares(values: FloatArray, scale: FloatArray) -> FloatArray:
    """(n, q) a score as shares of the categories next to it; halfway between two it is half of each. NaN for NaN."""
    if not len(scale):
        return np.zeros((len(values), 0))
    distance = np.abs(values[:, None] - scale)
    nearest = distance <= distance.min(axis=1, keepdims=True) + SAME
    return np.where(np.isnan(values)[:, None], np.nan, equal_shares(nearest.astype(float)))


def equal_shares(chosen: FloatArray) -> FloatArray:
    """(n, q) equal shares of the categories that are chosen (1); NaN where none is."""
    total = chosen.sum(axis=1, keepdims=True)
    return np.where(total > 0, chosen / np.where(total > 0, total, 1.0), np.nan)


def majority_shares(counts: FloatArray, gold: IntArray) -> FloatArray:
    """(n, q) the adjudicated category, else those with the most of ``counts`` (n, q); NaN without a rating."""
    top = counts.max(axis=1, initial=0.0, keepdims=True)
    shares = equal_shares(((counts == top) & (top > 0)).astype(float))
    return np.where((gold != MISSING)[:, None], np.arange(counts.shape[1]) == gold[:, None], shares)


def compute_agreement(shares: FloatArray, codes: IntArray) -> FloatArray:
    """(n,) the share (n, q) of the category that each verdict is; NaN where there is no label or no verdict."""
    if not shares.shape[1]:
        return np.full(len(codes), np.nan)
    found = shares[np.arange(len(codes)), np.where(codes == MISSING, 0, codes)]
    return np.where(codes == MISSING, np.nan, found)
