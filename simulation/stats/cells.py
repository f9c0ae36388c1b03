"""Means of many cells of a table at once, each with an interval that resamples profiles. Pure functions.

Dialogues of one profile are alike, so that profiles are resampled and not dialogues. All cells share the draws, and a
difference between two conditions is the mean of differences within what both of them saw.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.clustered import build_resampling, count_basis
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.scores import build_masked_means
from annotation.stats.table import FloatArray

Ends = tuple[float, float]
"""The lowest and the highest value of a scale, which no interval passes."""

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
    ends: Sequence[Ends | None] | None = None,
) -> list[Estimate]:
    """Mean of each of m columns of n dialogues, (n, m) or m of (n,), by profile.

    Parameters
    ----------
    ends
        The scale of each column; None where it has none.

    The others are those of `annotation.stats.clustered.estimate_clustered_means`.
    """
    columns = list(values.T) if isinstance(values, np.ndarray) else values
    if any(len(column) != len(clusters) for column in columns):
        raise ValueError(f"there are {len(columns[0])} rows and {len(clusters)} clusters")
    scales = [None] * len(columns) if ends is None else list(ends)
    resampling = build_resampling(clusters, bootstrap=bootstrap, confidence=confidence, seed=seed, weights=weights)
    found: list[Estimate] = []
    for start in range(0, len(columns), AT_A_TIME):
        part = np.column_stack(columns[start : start + AT_A_TIME])
        bases = [count_basis(~np.isnan(column), resampling) for column in part.T]
        means = replicate([build_masked_means(part)], resampling)[0]
        found += estimate_within(means, resampling, bases, reason, scales[start : start + AT_A_TIME])
    return found


def estimate_within(
    means: Replicates, resampling: Resampling, bases: Sequence[Basis], reason: str, ends: Sequence[Ends | None]
) -> list[Estimate]:
    """m means whose intervals are symmetric in the log odds between the ends of the scale, where it has ends."""
    low = np.array([0.0 if scale is None else scale[0] for scale in ends])
    width = np.array([1.0 if scale is None else scale[1] - scale[0] for scale in ends])
    shares = Replicates((means.value - low) / width, (means.bootstrap - low) / width, (means.left_out - low) / width)
    scales = ["plain" if scale is None else "share" for scale in ends]
    found = estimates(shares, resampling, bases, [reason] * len(bases), scale=scales)  # type: ignore[arg-type]
    return [
        replace(one, value=value, low=one.low * by + least, high=one.high * by + least, se=one.se * by)
        for one, value, by, least in zip(found, means.value.tolist(), width.tolist(), low.tolist(), strict=True)
    ]


def mean_of_means(
    columns: Sequence[FloatArray],
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    reason: str = NOTHING,
    ends: Ends | None = None,
) -> Estimate:
    """Mean of the means of m columns (n,), each of the same weight; columns without a value are left out."""
    values = np.column_stack(columns)
    there = np.isfinite(values)
    resampling = build_resampling(clusters, bootstrap=bootstrap, confidence=confidence, seed=seed)
    sums = SumStatistic(np.hstack([np.where(there, values, 0.0), there]), partial(_mean_of_ratios, m=len(columns)))
    bases = [count_basis(np.asarray(there.any(axis=1)), resampling)]
    return estimate_within(replicate([sums], resampling)[0], resampling, bases, reason, [ends])[0]


def _mean_of_ratios(sums: FloatArray, *, m: int) -> FloatArray:
    """(…, 1) mean over what is defined of m sums over m counts (…, 2 m)."""
    means = ratio(sums[..., :m], sums[..., m:])
    defined = ~np.isnan(means)
    return ratio(np.where(defined, means, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float))[..., None]
