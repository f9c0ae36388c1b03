"""Bootstrap of statistics that are no rating table: resampling weights, and the percentile interval of replicates."""

from collections.abc import Iterator, Sequence

import numpy as np

from annotation.stats.drawing import BUDGET
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import LEAST_UNITS
from annotation.stats.table import FloatArray, IntArray
from judging.stats.asymptotic import figure

MOST_UNDEFINED = 0.1
"""Above this share of undefined replicates the rest no longer speak for the sampling distribution."""


def units(n: int, clusters: Sequence[str] | None = None) -> IntArray:
    """(n,) what each item is drawn with: itself, or its cluster."""
    if clusters is None:
        return np.arange(n)
    return np.asarray(np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1])


def n_units(unit: IntArray) -> int:
    """How many things are drawn from."""
    return int(unit.max(initial=-1)) + 1


def drawn(k: int, *, replicates: int, seed: int) -> Iterator[FloatArray]:
    """(b, k) how often each of k things is drawn, so many replicates at a time that memory does not grow with k."""
    rng = np.random.default_rng(seed)
    at_once = max(1, BUDGET // max(k, 1))
    for start in range(0, replicates if k else 0, at_once):
        b = min(at_once, replicates - start)
        which = rng.integers(0, k, (b, k)) + k * np.arange(b)[:, None]
        yield np.bincount(which.ravel(), minlength=b * k).reshape(b, k).astype(float)


def summed(columns: FloatArray, unit: IntArray) -> FloatArray:
    """(k, m) sums of ``columns`` (n, m) over the items that are drawn together."""
    k = n_units(unit)
    return np.column_stack([np.bincount(unit, column, k) for column in columns.T])


def percentile(
    value: float,
    replicates: FloatArray,
    *,
    n_items: int,
    n_units: int,
    confidence: float,
    seed: int,
    reason: str | None = None,
    n_raters: int = 2,
) -> Estimate:
    """A figure with the percentile interval of its replicates (B,).

    None where over a tenth of them is undefined, or where fewer than `LEAST_UNITS` items or clusters were drawn from.
    """
    known = replicates[np.isfinite(replicates)]
    tail = (1 - confidence) / 2
    ends, why = (np.nan, np.nan), reason if np.isnan(value) else None
    if len(replicates) and n_units < LEAST_UNITS:
        why = why or f"not enough evidence: {n_units} independent units; at least {LEAST_UNITS} are needed"
    elif len(replicates) and len(known) >= (1 - MOST_UNDEFINED) * len(replicates):
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
