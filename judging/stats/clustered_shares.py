"""Shares of items that depend on each other or were drawn with unequal probability, with an interval for both."""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.shares import EFFECTIVE, compute_effective_number
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import build_undefined, figure, quantile, share, sum_by_cluster, wilson


def estimate_clustered_share(
    values: FloatArray,
    *,
    weights: FloatArray | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    reason: str = "no items",
    n_raters: int = 1,
) -> Estimate:
    """The weighted mean of values from 0 to 1, with Wilson's interval at the effective number of items.

    Parameters
    ----------
    values
        (n,) 0 and 1, or shares between them.
    weights
        (n,) one over the inclusion probability; equal by default.
    clusters
        (n,) what is independent of each other; by default every item.

    Notes
    -----
    The effective number of items is p (1 - p) / se^2 by the linearised standard error over clusters, times (z / t)^2
    with one degree of freedom fewer than there are clusters (Korn and Graubard 1998, Survey Methodology 24:193-201),
    and at most the number of items; where nothing varies it is the number of clusters. Numbers of items and of clusters
    are Kish's effective ones by their weights. One cluster gives no interval.
    """
    n = len(values)
    if not n:
        return build_undefined(reason, n_items=0, confidence=confidence, n_raters=n_raters)
    if weights is None and clusters is None and np.isin(values, (0, 1)).all():
        return share(int(values.sum()), n, confidence=confidence, n_raters=n_raters)
    w = np.ones(n) if weights is None else weights
    p = float((w * values).sum() / w.sum())
    parts, held = (sum_by_cluster(w * part, clusters) for part in ((values - p) / w.sum(), np.ones(n)))
    effective = _effective(p, parts, compute_effective_number(held), compute_effective_number(w), confidence)
    if np.isnan(effective):
        return figure(
            p, n_items=n, confidence=confidence, method="none", reason="no interval: one cluster", n_raters=n_raters
        )
    ends = wilson(p, effective, confidence)
    return figure(p, ends, n_items=n, confidence=confidence, method=EFFECTIVE, n_raters=n_raters)


def _effective(p: float, parts: FloatArray, units: float, items: float, confidence: float) -> float:
    """Effective number of items; ``parts`` (g,) are the influences of the clusters. NaN of one cluster.

    ``units`` and ``items`` are how many clusters and items there are, by their weights.
    """
    g = len(parts)
    if g < 2:
        return np.nan
    variance = float((parts**2).sum()) * g / (g - 1)
    if variance < 1e-24:
        return units
    t = float(scipy.special.stdtrit(max(units - 1, 1.0), (1 + confidence) / 2))
    return min(p * (1 - p) / variance * (quantile(confidence) / t) ** 2, items)


def count_clustered_share(
    true: BoolArray, known: BoolArray, clusters: Sequence[str] | None, *, reason: str = "no items"
) -> Estimate:
    """Share of the items (n,) of the mask ``known`` on which ``true`` (n,) holds; a judge's, beside people."""
    values = np.asarray(true, dtype=float)[known]
    return estimate_clustered_share(values, clusters=select_clusters(clusters, known), reason=reason, n_raters=2)


def select_clusters(clusters: Sequence[str] | None, used: BoolArray) -> tuple[str, ...] | None:
    """The clusters of the items where the mask (n,) is true; None without clusters."""
    if clusters is None:
        return None
    return tuple(name for name, there in zip(clusters, used, strict=True) if there)
