"""Shares of a judge's items, beside people, that depend on each other."""

from collections.abc import Sequence

import numpy as np

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray

__all__ = ["count_clustered_share", "estimate_clustered_share", "select_clusters"]


def count_clustered_share(
    true: BoolArray,
    known: BoolArray,
    clusters: Sequence[str] | None,
    *,
    weights: FloatArray | None = None,
    reason: str = "no items",
) -> Estimate:
    """Share of the items (n,) of the mask ``known`` on which ``true`` (n,) holds; a judge's, beside people.

    ``weights`` (n,) are one over the inclusion probability; equal by default.
    """
    return estimate_clustered_share(
        np.asarray(true, dtype=float)[known],
        weights=None if weights is None else weights[known],
        clusters=select_clusters(clusters, known),
        reason=reason,
        n_raters=2,
    )


def select_clusters(clusters: Sequence[str] | None, used: BoolArray) -> tuple[str, ...] | None:
    """The clusters of the items where the mask (n,) is true; None without clusters."""
    if clusters is None:
        return None
    return tuple(name for name, there in zip(clusters, used, strict=True) if there)
