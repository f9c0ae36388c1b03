"""Whether the order of systems depends on who rates them: changes of rank between two ways to rate. Pure functions.

Ranks jump where means cross, so that neither a jackknife nor BCa fits them: the interval is the percentiles of ranks in
resamples of profiles (Goldstein and Spiegelhalter 1996, Journal of the Royal Statistical Society A 159:385-443).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.clustered import build_resampling, count_basis
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import explain_no_interval
from annotation.stats.resampling import SumStatistic, replicate
from annotation.stats.table import FloatArray

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
    values = np.column_stack([*first, *second])
    there = np.isfinite(values)
    resampling = build_resampling(clusters, bootstrap=bootstrap, confidence=confidence, seed=seed)
    sums = SumStatistic(np.hstack([np.where(there, values, 0.0), there]), partial(_changes, k=len(first)))
    found = replicate([sums], resampling)[0]
    why = explain_no_interval(resampling)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    without = np.isnan(found.value).any() or why is not None or not bootstrap
    ends = np.full((2, len(first)), np.nan) if without else np.nanquantile(found.bootstrap, tails, axis=0)
    pairs = [there[:, place] | there[:, place + len(first)] for place in range(len(first))]
    return [
        Estimate(
            value=float(value),
            low=float(low),
            high=float(high),
            reason=NOT_RANKED if np.isnan(value) else why,
            n_items=(basis := count_basis(pair, resampling)).n_items,
            n_raters=basis.n_raters,
            n_ratings=basis.n_ratings,
            confidence=confidence,
            method="none" if without else "percentile",
            seed=None if without else seed,
        )
        for value, low, high, pair in zip(found.value, *ends, pairs, strict=True)
    ]


def _changes(sums: FloatArray, *, k: int) -> FloatArray:
    """(…, k) differences of ranks from sums and counts (…, 4 k) of the first way and the second."""
    means = ratio(sums[..., : 2 * k], sums[..., 2 * k :])
    ranks = [scipy.stats.rankdata(-means[..., part], axis=-1, nan_policy="propagate") for part in _halves(k)]
    change: FloatArray = ranks[1] - ranks[0]
    return change


def _halves(k: int) -> tuple[slice, slice]:
    return slice(0, k), slice(k, 2 * k)
