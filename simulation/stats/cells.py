"""Means of many cells of a table at once, each with an interval that resamples profiles. Pure functions.

Dialogues of one profile are alike, so that profiles are resampled and not dialogues. All cells share the draws, and a
difference between two conditions is the mean of differences within what both of them saw.
"""

from collections.abc import Sequence

from annotation.stats.clustered import clustered_means
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray

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
    """`annotation.stats.clustered.clustered_means` of (n, m) values of dialogues, by profile."""
    return clustered_means(values, clusters, bootstrap=bootstrap, confidence=confidence, seed=seed, reason=reason)
