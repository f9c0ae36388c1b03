"""Means of what a judge said, over all of it and within groups, with intervals.

Judgments of one cluster (one profile, or one dialogue) are resampled together, since one person's dialogues, and the
turns of one dialogue, are more alike than others. The same resamples serve all means.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Resampling, SumStatistic, ratio, replicate
from annotation.stats.table import FloatArray, IntArray, check_numbers

Labels = Sequence[str] | IntArray

NO_VERDICT = "no verdict"


def compute_means(
    columns: Iterable[FloatArray],
    *,
    items: Labels,
    clusters: Labels,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    scale: Scale = "plain",
) -> list[Estimate]:
    """The mean of each column over the judgments where it has a number.

    Parameters
    ----------
    columns
        m of (n,) numbers in units of the scale, one for each judgment; NaN where there was no verdict, and where the
        judgment does not belong to the column's group. Shares are means of zeros and ones. Columns are looked at one
        by one, for there may be millions of rows.
    items, clusters
        (n,) the item that each judgment is of, and what is resampled as a whole.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.
    scale
        Where intervals are symmetric; of shares it is ``"share"``.

    Returns
    -------
    list of Estimate
        m means with intervals. ``n_items`` counts the items that have a
        number, ``n_ratings`` the numbers. NaN with a reason for a column without a number.

    Raises
    ------
    ValueError
        Where the columns are not equally long.
    """
    unit, number = index_in_order(clusters), index_in_order(items)
    k = int(unit.max(initial=-1)) + 1
    sums, counts, bases = [], [], []
    for column in columns:
        if not len(column) == len(unit) == len(number):
            raise ValueError(f"{len(column)} rows of values, {len(number)} items and {len(unit)} clusters")
        check_numbers(column)
        known = np.isfinite(column)
        sums.append(np.bincount(unit[known], column[known], k))
        counts.append(np.bincount(unit[known], minlength=k))
        bases.append(_basis(number[known]))
    m = len(sums)
    if not m:
        return []
    contributions = np.column_stack([*sums, *counts]).astype(float)
    one_stratum = np.zeros(k, dtype=np.int64)
    resampling = Resampling(np.arange(k), one_stratum, np.ones(k), bootstrap, confidence, seed, unit_name="clusters")
    means = SumStatistic(
        contributions, lambda found: ratio(found[..., :m], found[..., m:]), counted=lambda found: found[..., m:]
    )
    (replicates,) = replicate([means], resampling)
    return estimates(replicates, resampling, bases, [NO_VERDICT] * m, scale=scale)


def index_in_order(labels: Labels) -> IntArray:
    """(n,) the place of each label among the different ones, in the order in which they come first."""
    _, first, which = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    place = np.empty(first.size, dtype=np.int64)
    place[np.argsort(first)] = np.arange(first.size)
    return np.asarray(place[which.reshape(-1)])


def _basis(items: IntArray) -> Basis:
    return Basis(int((np.bincount(items) > 0).sum()), int(len(items) > 0), len(items))
