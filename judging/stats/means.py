"""Means of what a judge said, over all of it and within groups, with intervals.

Judgments of one cluster (one profile, or one dialogue) are resampled together, since one person's dialogues, and the
turns of one dialogue, are more alike than others. The same resamples serve all means.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.scores import masked_means
from annotation.stats.table import FloatArray

NO_VERDICT = "no verdict"


def clustered_means(
    values: FloatArray,
    *,
    items: Sequence[str],
    clusters: Sequence[str],
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[Estimate]:
    """The mean of each column over the judgments where it has a number.

    Parameters
    ----------
    values
        (n, m) numbers in units of the scale, a row for each judgment; NaN where there was no verdict, and where the
        judgment does not belong to the column's group. Shares are means of zeros and ones.
    items, clusters
        (n,) the item that each judgment is of, and what is resampled as a whole.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.

    Returns
    -------
    list of Estimate
        m means with intervals: BCa, or percentile where that does not exist. ``n_items`` counts the items that have a
        number, ``n_ratings`` the numbers. NaN with a reason for a column without a number.

    Raises
    ------
    ValueError
        Where the columns are not equally long.
    """
    n = len(values)
    if not len(items) == len(clusters) == n:
        raise ValueError(f"{n} rows of values, {len(items)} items and {len(clusters)} clusters")
    place = {cluster: at for at, cluster in enumerate(dict.fromkeys(clusters))}
    unit = np.array([place[cluster] for cluster in clusters], dtype=np.int64)
    stratum = np.zeros(len(place), dtype=np.int64)
    resampling = Resampling(unit, stratum, np.ones(n), bootstrap, confidence, seed)
    (replicates,) = replicate([masked_means(values)], resampling)
    names = np.asarray(items, dtype=str)
    bases = [_basis(names[np.isfinite(column)]) for column in values.T]
    return estimates(replicates, resampling, bases, [NO_VERDICT] * len(bases))


def _basis(items: npt.NDArray[np.str_]) -> Basis:
    return Basis(len(np.unique(items)), int(len(items) > 0), len(items))
