"""Bootstrap of statistics that are no rating table: resampling weights, and the percentile interval of replicates."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure

MOST_UNDEFINED = 0.1
"""Above this share of undefined replicates the rest no longer speak for the sampling distribution."""


def redraws(n: int, *, replicates: int, seed: int, clusters: Sequence[str] | None = None) -> FloatArray:
    """(B, n) how often each of n items is drawn in each replicate; the items of one cluster are drawn together."""
    return _redrawn(n, replicates, seed, None if clusters is None else tuple(clusters))


@lru_cache(maxsize=1)  # a score before and after a map is redrawn alike, one right after the other
def _redrawn(n: int, replicates: int, seed: int, clusters: tuple[str, ...] | None) -> FloatArray:
    unit = np.arange(n)
    if clusters is not None:
        unit = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1]
    k = int(unit.max(initial=-1)) + 1
    if not k or not replicates:
        return np.zeros((0, n))
    drawn = np.random.default_rng(seed).integers(0, k, (replicates, k)) + k * np.arange(replicates)[:, None]
    times = np.bincount(drawn.ravel(), minlength=replicates * k).reshape(replicates, k)
    weights: FloatArray = times[:, unit].astype(float)
    weights.setflags(write=False)
    return weights


def percentile(
    value: float,
    replicates: FloatArray,
    *,
    n_items: int,
    confidence: float,
    seed: int,
    reason: str | None = None,
    n_raters: int = 2,
) -> Estimate:
    """A figure with the percentile interval of its replicates (B,); none where over a tenth of them is undefined."""
    known = replicates[np.isfinite(replicates)]
    tail = (1 - confidence) / 2
    ends, why = (np.nan, np.nan), reason if np.isnan(value) else None
    if len(replicates) and len(known) >= (1 - MOST_UNDEFINED) * len(replicates):
        low, high = np.quantile(known, [tail, 1 - tail])
        ends = (float(low), float(high))
    elif len(replicates) and not np.isnan(value):
        why = f"no interval: {len(replicates) - len(known)} of {len(replicates)} resamples are undefined"
    return figure(
        value,
        ends,
        n_items=n_items,
        confidence=confidence,
        method="percentile",
        reason=why,
        n_raters=n_raters,
        seed=seed if len(replicates) else None,
    )
