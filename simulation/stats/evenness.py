"""How evenly the values of a preference are spread over those that are possible.

Shannon's evenness, H / log n (Pielou 1966, Journal of Theoretical Biology 13:131-144): 1 where every value is
equally frequent, 0 where there is only one. PersonaLens (arXiv 2506.09902) reports it of its profiles.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import SAME, Basis, estimates
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.table import FloatArray, IntArray

ONE_SIDED = "no interval: so few profiles a value that resampling them only makes them less even"


@dataclass(frozen=True)
class Evenness:
    """The evenness of one preference.

    Attributes
    ----------
    evenness
        H / log n, 0 to 1, with an interval over profiles; its ``n_items`` are profiles.
    n_possible, n_used
        Values that are possible (the n of the formula), and those that occur.
    counts
        How often each possible value occurs.
    """

    evenness: Estimate
    n_possible: int
    n_used: int
    counts: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The evenness as JSON types."""
        return {
            "evenness": self.evenness.as_json(),
            "n_possible": self.n_possible,
            "n_used": self.n_used,
            "counts": dict(self.counts),
        }


def evenness(
    values: Sequence[str],
    possible: Sequence[str] | None = None,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Evenness:
    """The evenness of the values that profiles have.

    Parameters
    ----------
    values
        One value per profile that has one.
    possible
        All values that a profile could have; by default those that occur, which makes the evenness look
        better than it is where some never do.
    bootstrap, confidence, seed
        How the interval is made. Entropy is underestimated where there are few profiles per value, in the
        sample and once more in its resamples; BCa corrects part of it.

    Raises
    ------
    ValueError
        If a value is not among the possible ones, or one of these stands twice.
    """
    counted = Counter(values)
    known = list(possible) if possible is not None else sorted(counted)
    if len(set(known)) != len(known):
        raise ValueError("a possible value stands twice")
    if strange := sorted(set(counted) - set(known)):
        raise ValueError(f"{strange[0]!r} is not among the {len(known)} possible values")
    counts = np.array([counted[value] for value in known], dtype=np.int64)
    return Evenness(
        evenness=_estimate(counts, bootstrap=bootstrap, confidence=confidence, seed=seed),
        n_possible=len(known),
        n_used=int((counts > 0).sum()),
        counts={value: counted[value] for value in known},
    )


def _estimate(counts: IntArray, *, bootstrap: int, confidence: float, seed: int) -> Estimate:
    """Each value that occurs is a kind of profile, drawn as often as resampling draws it."""
    occurring = counts[counts > 0]
    k = len(occurring)
    resampling = Resampling(
        unit=np.arange(k),
        stratum=np.zeros(k, dtype=np.int64),
        item_weights=np.ones(k),
        n_replicates=bootstrap,
        confidence=confidence,
        seed=seed,
        copies=occurring,
    )
    statistic = SumStatistic(np.eye(k), partial(_relative_entropy, n_possible=len(counts)))
    basis = Basis(n_items=int(counts.sum()), n_raters=0, n_ratings=int(counts.sum()))
    reason = "no values" if not k else "only one value is possible"
    replicates = replicate([statistic], resampling)[0]
    found = estimates(replicates, resampling, [basis], [reason])[0]
    if not _one_sided(replicates):
        return found
    return replace(found, low=np.nan, high=np.nan, reason=ONE_SIDED, method="none", se=np.nan, df=np.nan)


def _one_sided(replicates: Replicates) -> bool:
    """Whether resampling makes the values less even, and never more: then it says nothing about what lies above."""
    below, above = replicates.bootstrap < replicates.value - SAME, replicates.bootstrap > replicates.value + SAME
    return bool(below.any() and not above.any())


def _relative_entropy(sums: FloatArray, *, n_possible: int) -> FloatArray:
    """(…, 1) entropy over log n from counts (…, k)."""
    if n_possible < 2 or not sums.shape[-1]:
        return np.full((*sums.shape[:-1], 1), np.nan)
    shares = ratio(sums, sums.sum(axis=-1, keepdims=True))
    terms = np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0)
    relative: FloatArray = -terms.sum(axis=-1, keepdims=True) / np.log(n_possible)
    return relative
