"""Figures with an interval by formula: means with a standard error, and shares of a count."""

from collections.abc import Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.shares import figure, quantile, share, undefined, wilson
from annotation.stats.table import FloatArray

__all__ = [
    "figure",
    "influence_error",
    "normal",
    "quantile",
    "share",
    "summed_by_cluster",
    "undefined",
    "wilson",
]


def normal(
    value: float,
    se: float,
    *,
    n_items: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    reason: str | None = None,
    n_raters: int = 2,
    n_ratings: int | None = None,
) -> Estimate:
    """Value -+ z * se, cut at ``bounds``.

    A standard error of 0 gives no interval: what never varied says nothing of how much it varies.
    """
    flat = not se > 0
    half = np.nan if flat else quantile(confidence) * se
    why = reason or ("no interval: the data do not vary" if flat else None)
    ends = (max(value - half, bounds[0]), min(value + half, bounds[1])) if not flat else (np.nan, np.nan)
    return figure(
        value,
        ends,
        n_items=n_items,
        confidence=confidence,
        method="normal",
        reason=why,
        n_raters=n_raters,
        n_ratings=n_ratings,
    )


def summed_by_cluster(influence: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """Influences (n, …) added up within each cluster; as they are without clusters."""
    if clusters is None:
        return influence
    index = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)[1]
    summed = np.zeros((int(index.max(initial=-1)) + 1, *influence.shape[1:]))
    np.add.at(summed, index, influence)
    return summed


def influence_error(influence: FloatArray, clusters: Sequence[str] | None = None) -> float:
    """Standard error of an estimate whose deviation is the sum of ``influence`` (n,) over items.

    With clusters (one dialogue, one profile) their sums are the independent parts, and the usual factor
    G / (G - 1) of the G clusters applies. Without clusters the sum of squares is taken as it is.
    """
    parts = summed_by_cluster(influence, clusters)
    factor = 1.0 if clusters is None else len(parts) / (len(parts) - 1) if len(parts) > 1 else np.nan
    # what is left of a sum that ought to cancel is rounding, not spread
    total = float((parts**2).sum())
    return float(np.sqrt(factor * total)) if total > 1e-24 else 0.0
