"""What most raters said of an item, with ties named instead of broken."""

from dataclasses import dataclass

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable


@dataclass(frozen=True, eq=False)
class Majority:
    """The most frequent category of each item.

    Attributes
    ----------
    codes
        (n_items,) category chosen more often than any other; -1 where there is none.
    tied
        (n_items,) where two or more categories share the first place.
    unrated
        (n_items,) where nobody rated the item.
    share
        (n_items,) share of the ratings in the first place, 0 to 1; NaN where unrated.
    """

    codes: IntArray
    tied: BoolArray
    unrated: BoolArray
    share: FloatArray


def compute_majority(counts: FloatArray) -> IntArray:
    """(n_items,) category that ``counts`` (n_items, q) has most of; -1 where two share the first place or none is."""
    top = counts.max(axis=1, initial=0.0)
    alone = ((counts == top[:, None]).sum(axis=1) == 1) & (top > 0)
    first = counts.argmax(axis=1) if counts.shape[1] else np.zeros(len(counts), dtype=np.int64)
    return np.where(alone, first, MISSING)


def compute_medians(counts: FloatArray) -> tuple[IntArray, IntArray]:
    """(n_items,) lower and upper median category of ``counts`` (n_items, q); both -1 where there is no rating.

    They differ where as many ratings lie above as below a gap: then there is no median on the scale.
    """
    size = counts.sum(axis=1)
    if not counts.shape[1]:
        nothing = np.full(len(counts), MISSING, dtype=np.int64)
        return nothing, nothing
    upto = counts.cumsum(axis=1)
    lower = (2 * upto >= size[:, None]).argmax(axis=1)
    upper = (2 * upto > size[:, None]).argmax(axis=1)
    return np.where(size > 0, lower, MISSING), np.where(size > 0, upper, MISSING)


def majority(table: RatingTable) -> Majority:
    """The majority of each item; a single rating is its own majority. Ties are reported, never broken."""
    top = table.counts.max(axis=1, initial=0.0)
    unrated = top == 0
    tied = ((table.counts == top[:, None]).sum(axis=1) > 1) & ~unrated
    return Majority(compute_majority(table.counts), tied, unrated, ratio(top, table.ratings_per_item))
