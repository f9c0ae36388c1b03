"""Is one judge right more often than another on the same items? McNemar (1947), Psychometrika 12:153-157, exactly."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray


@dataclass(frozen=True)
class McNemar:
    """Two judges on the n items that count for both.

    Attributes
    ----------
    n, gained, lost
        Items; those on which only the new judge is right, and those on which only the old one is.
    p_value
        Two-sided, of the hypothesis that gaining is as likely as losing; NaN where nothing was gained or lost.
    reason
        Why there is no test, or None.
    """

    n: int
    gained: int
    lost: int
    p_value: float
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "n_items": self.n,
            "gained": self.gained,
            "lost": self.lost,
            "p_value": number_or_none(self.p_value),
            "reason": self.reason,
        }


def mcnemar(old_right: BoolArray, new_right: BoolArray) -> McNemar:
    """From (n,) whether the old and the new judge are right on each item.

    Under the hypothesis the number gained is binomial with gained + lost throws and probability one half.

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
    return McNemar(len(old), gained, lost, float(scipy.stats.binomtest(gained, gained + lost).pvalue), None)
