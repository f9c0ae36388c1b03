"""Means of many cells of a table at once, and changes of rank, with intervals that resample profiles. Pure functions.

Dialogues of one profile are alike, so that profiles are resampled and not dialogues. All cells share the draws, and a
difference between two conditions is the mean of differences within what both of them saw.

Ranks jump where means cross, so that neither a jackknife nor a bootstrap fits them: the interval holds the differences
of the ranks that the simultaneous intervals of all differences of means leave possible (Mogstad et al. 2024, see
`annotation.stats.simultaneous`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.clustered import build_resampling, count_basis
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import NOT_ASKED, Basis, estimates, explain_no_interval
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.scores import build_masked_means
from annotation.stats.shares import figure
from annotation.stats.simultaneous import bound_differences, rank_sets
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
    value, bootstrap, left_out = ((part - low) / width for part in (means.value, means.bootstrap, means.left_out))
    shares = Replicates(value, bootstrap, left_out, means.weight)
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


NOT_RANKED = "one of the systems has no value in one of the two"


def rank_changes(
    first: Sequence[FloatArray],
    second: Sequence[FloatArray],
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[Estimate]:
    """Rank by the second way minus rank by the first of each of k systems; 1 is the highest mean, ties share a rank.

    Parameters
    ----------
    first, second
        k columns (n,) of values, NaN where a row is not of the system or not of this way.
    clusters
        (n,) what is resampled: the profile of each row.
    """
    resampling = build_resampling(clusters, bootstrap=bootstrap, confidence=(1 + confidence) / 2, seed=seed)
    why = explain_no_interval(resampling) if bootstrap else NOT_ASKED
    (before, earlier), (after, later) = (_rank(columns, resampling) for columns in (first, second))
    there = [np.isfinite(one) | np.isfinite(other) for one, other in zip(first, second, strict=True)]
    found = []
    for place, used in enumerate(there):
        value, basis = float(after[place] - before[place]), count_basis(used, resampling)
        ends = later[place][0] - earlier[place][1], later[place][1] - earlier[place][0]
        found.append(
            figure(
                value,
                (np.nan, np.nan) if why else (min(value, ends[0]), max(value, ends[1])),
                n_items=basis.n_items,
                n_raters=basis.n_raters,
                n_ratings=basis.n_ratings,
                confidence=confidence,
                method="simultaneous t",
                reason=NOT_RANKED if np.isnan(value) else why,
            )
        )
    return found


def _rank(columns: Sequence[FloatArray], resampling: Resampling) -> tuple[FloatArray, list[tuple[int, int]]]:
    """(k,) ranks of the means of k columns (n,), all NaN where one has no value; and the ranks that are possible."""
    means, low, high = bound_differences(np.column_stack(columns), resampling)
    return scipy.stats.rankdata(-means, nan_policy="propagate"), rank_sets(low, high, len(means))
