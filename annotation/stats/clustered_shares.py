"""Shares of items that depend on each other or were drawn with unequal probability, with an interval for both."""

from collections.abc import Sequence

import numpy as np
import scipy

from annotation.stats.clustered import number_units
from annotation.stats.estimate import Estimate
from annotation.stats.shares import (
    EFFECTIVE,
    build_undefined,
    compute_effective_number,
    figure,
    quantile,
    share,
    wilson,
)
from annotation.stats.table import FloatArray


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
    unit, g = (np.arange(n), n) if clusters is None else number_units(clusters)
    parts, held = (np.bincount(unit, w * part, g).astype(float) for part in ((values - p) / w.sum(), np.ones(n)))
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
