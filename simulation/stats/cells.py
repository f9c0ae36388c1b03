"""Means of many cells of a table at once, each with an interval that resamples profiles. Pure functions.

Dialogues of one profile are alike, so that profiles are resampled and not dialogues. All cells share the draws, and a
difference between two conditions is the mean of differences within what both of them saw.
"""

from collections.abc import Sequence

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.scores import masked_means
from annotation.stats.table import FloatArray, IntArray

NOTHING = "no dialogue has a value here"
NO_PAIR = "no dialogue has a partner under the other condition"


def cell_means(
    values: FloatArray,
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    reason: str = NOTHING,
) -> list[Estimate]:
    """The mean of each column, without what is missing.

    Parameters
    ----------
    values
        (n, m); NaN where a row takes no part in a column.
    clusters
        (n,) what is resampled: the profile of each row.
    bootstrap, confidence, seed
        How the intervals are made.
    reason
        Why a column has no mean, where it has none.

    Returns
    -------
    list of Estimate
        m figures; their ``n_items`` are rows, their ``n_raters`` the profiles of these.
    """
    n, m = values.shape
    if len(clusters) != n:
        raise ValueError(f"there are {n} rows and {len(clusters)} clusters")
    there = ~np.isnan(values)
    unit, n_units = _units(clusters)
    resampling = Resampling(
        unit=unit,
        stratum=np.zeros(n_units, dtype=np.int64),
        item_weights=np.ones(n),
        n_replicates=bootstrap if n else 0,
        confidence=confidence,
        seed=seed,
    )
    bases = [
        Basis(int(there[:, j].sum()), len(set(unit[there[:, j]].tolist())), int(there[:, j].sum())) for j in range(m)
    ]
    return estimates(replicate([masked_means(values)], resampling)[0], resampling, bases, [reason] * m)


def _units(clusters: Sequence[str]) -> tuple[IntArray, int]:
    if not len(clusters):
        return np.zeros(0, dtype=np.int64), 0
    names, unit = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    return unit.astype(np.int64), len(names)
