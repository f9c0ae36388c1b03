"""Means of many columns at once, each with an interval that resamples clusters: profiles, personas, dialogues.

What belongs to one cluster is alike, so that clusters are resampled and not rows. All columns share the draws.
"""

from collections.abc import Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.scores import build_masked_means
from annotation.stats.table import BoolArray, FloatArray, IntArray, check_numbers

NOTHING = "nothing has a value here"
MOST = 1e60
"""Of numbers that may be products of scores: fourth powers of larger ones would overflow."""


def estimate_clustered_means(
    values: FloatArray,
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    reason: str = NOTHING,
    weights: FloatArray | None = None,
    scale: Scale | Sequence[Scale] = "plain",
) -> list[Estimate]:
    """The mean of each column, without what is missing.

    Parameters
    ----------
    values
        (n, m); NaN where a row takes no part in a column. Zeros and ones for shares.
    clusters
        (n,) what is resampled: the profile of each row.
    bootstrap, confidence, seed
        How the intervals are made.
    reason
        Why a column has no mean, where it has none.
    weights
        (n,) of the rows; equal by default.
    scale
        Where intervals are symmetric, for all columns or for each; of shares it is ``"share"``.

    Returns
    -------
    list of Estimate
        m figures; their ``n_items`` are rows, their ``n_raters`` the clusters of these.

    Raises
    ------
    ValueError
        If there are not as many clusters as rows, or a number is beyond `MOST`.
    """
    n, m = values.shape
    if len(clusters) != n:
        raise ValueError(f"there are {n} rows and {len(clusters)} clusters")
    check_numbers(values, MOST)
    there = ~np.isnan(values)
    resampling = build_resampling(clusters, bootstrap=bootstrap, confidence=confidence, seed=seed, weights=weights)
    bases = [count_basis(there[:, j], resampling) for j in range(m)]
    (found,) = replicate([build_masked_means(values)], resampling)
    return estimates(found, resampling, bases, [reason] * m, scale=scale)


def build_resampling(
    clusters: Sequence[str],
    *,
    bootstrap: int,
    confidence: float,
    seed: int,
    weights: FloatArray | None = None,
) -> Resampling:
    """How rows are resampled with all of their cluster. The parameters are those of `estimate_clustered_means`."""
    unit, n_units = number_units(clusters)
    n = len(unit)
    return Resampling(
        unit=unit,
        stratum=np.zeros(n_units, dtype=np.int64),
        item_weights=np.ones(n) if weights is None else weights,
        n_replicates=bootstrap if n else 0,
        confidence=confidence,
        seed=seed,
        unit_name="clusters",
    )


def count_basis(there: BoolArray, resampling: Resampling) -> Basis:
    """What the rows of a mask (n,) amount to: rows, and clusters in the place of raters."""
    n = int(there.sum())
    return Basis(n, len(np.unique(resampling.unit[there])), n)


def number_units(clusters: Sequence[str]) -> tuple[IntArray, int]:
    """The number of each row's cluster, 0 … k - 1, and k."""
    if not len(clusters):
        return np.zeros(0, dtype=np.int64), 0
    names, unit = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    return unit.astype(np.int64), len(names)
