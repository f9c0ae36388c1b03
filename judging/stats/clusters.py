"""Items that depend on each other: shares of them beside people, and which clusters are held out.

Whether a cluster is held out is told by a hash, so that items that are added later move none.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray


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


def draw_held_out(clusters: Sequence[str], share: float, seed: int) -> BoolArray:
    """(n,) whether each item's cluster is among the ``share`` (0 to 1) of clusters that is held out."""
    place = {name: _fraction(f"{seed}:{name}") for name in set(clusters)}
    return np.array([place[name] < share for name in clusters], dtype=bool)


def _fraction(text: str) -> float:
    """A number from 0 to 1 that is the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
