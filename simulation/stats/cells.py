"""Means of many cells of a table at once, each with an interval that resamples profiles. Pure functions.

Dialogues of one profile are alike, so that profiles are resampled and not dialogues. All cells share the draws, and a
difference between two conditions is the mean of differences within what both of them saw.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.clustered import basis_of, clustered_means, resampling_of
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import estimates
from annotation.stats.resampling import SumStatistic, replicate
from annotation.stats.table import FloatArray

NOTHING = "no dialogue has a value here"
NO_PAIR = "no dialogue has a partner under the other condition"
AT_A_TIME = 64
"""Columns that are held as one matrix; the draws are the same for all."""


def cell_means(
    values: FloatArray | Sequence[FloatArray],
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    reason: str = NOTHING,
    weights: FloatArray | None = None,
) -> list[Estimate]:
    """Mean of each of m columns of n dialogues, (n, m) or m of (n,), by profile.

    The other parameters are those of `annotation.stats.clustered.clustered_means`.
    """
    columns = list(values.T) if isinstance(values, np.ndarray) else values
    found: list[Estimate] = []
    for start in range(0, len(columns), AT_A_TIME):
        found += clustered_means(
            np.column_stack(columns[start : start + AT_A_TIME]),
            clusters,
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
            reason=reason,
            weights=weights,
        )
    return found


def mean_of_means(
    columns: Sequence[FloatArray],
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    reason: str = NOTHING,
) -> Estimate:
    """Mean of the means of m columns (n,), each of the same weight; columns without a value are left out."""
    values = np.column_stack(columns)
    there = np.isfinite(values)
    resampling = resampling_of(clusters, bootstrap=bootstrap, confidence=confidence, seed=seed)
    sums = SumStatistic(np.hstack([np.where(there, values, 0.0), there]), partial(_mean_of_ratios, m=len(columns)))
    bases = [basis_of(np.asarray(there.any(axis=1)), resampling)]
    return estimates(replicate([sums], resampling)[0], resampling, bases, [reason])[0]


def _mean_of_ratios(sums: FloatArray, *, m: int) -> FloatArray:
    """(…, 1) mean over what is defined of m sums over m counts (…, 2 m)."""
    means = ratio(sums[..., :m], sums[..., m:])
    defined = ~np.isnan(means)
    return ratio(np.where(defined, means, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float))[..., None]
