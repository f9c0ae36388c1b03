"""Is one judge right more often than another on the same items? McNemar (1947), Psychometrika 12:153-157, exactly.

Items of a cluster depend on each other: then the two judges change places in whole clusters (a permutation test of
paired differences; Fisher 1935, The Design of Experiments, section 21). With single items that is McNemar's test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, IntArray
from judging.stats.asymptotic import sum_by_cluster
from judging.stats.result_types import McNemarDocument


@dataclass(frozen=True)
class McNemar:
    """Two judges on the n items that count for both.

    Attributes
    ----------
    n, gained, lost
        Items; those on which only the new judge is right, and those on which only the old one is.
    p_value
        Two-sided, of the hypothesis that either judge may be the new one; NaN where nothing was gained or lost.
    reason
        Why there is no test, or None.
    """

    n: int
    gained: int
    lost: int
    p_value: float
    reason: str | None

    def to_json(self) -> McNemarDocument:
        """As JSON types."""
        return {
            "n_items": self.n,
            "gained": self.gained,
            "lost": self.lost,
            "p_value": number_or_none(self.p_value),
            "reason": self.reason,
        }


def mcnemar(old_right: BoolArray, new_right: BoolArray, clusters: Sequence[str] | None = None) -> McNemar:
    """From (n,) whether the old and the new judge are right on each item.

    Under the hypothesis what is gained less what is lost has either sign with probability one half: in each item, or in
    each of the ``clusters`` (n,).

    Raises
    ------
    ValueError
        If the columns have different lengths.
    """
    old, new = np.asarray(old_right, dtype=bool), np.asarray(new_right, dtype=bool)
    if old.shape != new.shape:
        raise ValueError(f"the old judge has {old.shape} items, the new one {new.shape}")
    gained, lost = int((new & ~old).sum()), int((old & ~new).sum())
    if not gained + lost:
        why = "no item with a label that both scored" if not len(old) else "both are right on the same items"
        return McNemar(len(old), gained, lost, np.nan, why)
    change = sum_by_cluster(new.astype(float) - old, clusters)
    return McNemar(len(old), gained, lost, _compute_sign_p(np.rint(change).astype(np.int64)), None)


def _compute_sign_p(change: IntArray) -> float:
    """Two-sided exact p-value of the sum of ``change`` (g,), each of either sign with probability one half."""
    if not change.sum():
        return 1.0
    chances = np.ones(1)
    for size, count in zip(*np.unique(np.abs(change[change != 0]), return_counts=True), strict=True):
        steps = np.zeros(2 * size * count + 1)
        steps[:: 2 * size] = scipy.stats.binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, steps)
    sums = np.arange(len(chances)) - len(chances) // 2
    return float(min(1.0, chances[np.abs(sums) >= abs(change.sum())].sum()))
