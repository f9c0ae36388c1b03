"""How evenly the values of a preference are spread over its values.

Shannon's evenness, H / log n (Pielou 1966, Journal of Theoretical Biology 13:131-144): 1 where every value is
equally frequent, 0 where there is only one. There are two, by what n counts: the values that occur, as in Tables 8
and 9 of PersonaLens (arXiv 2506.09902), or those that are possible, among which some may never occur.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import SAME, Basis, estimates
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.table import FloatArray
from simulation.stats.result_types import EvennessDocument

ONE_SIDED = "no interval: with so few profiles for each value, resampling only makes the values less even"
NO_LIST = "any value is possible: there is no list of them"


@dataclass(frozen=True)
class Evenness:
    """The evenness of one preference, with intervals over profiles.

    Attributes
    ----------
    occurring
        H / log of the number of values that occur. In resamples it is the number that occurs in them.
    possible
        H / log of the number of possible values; NaN where there is no list of them.
    n_possible
        Values on that list; None where there is none.
    unlisted
        Values that occur and are not on the list. They count among the possible ones.
    counts
        How often each value occurs.
    """

    occurring: Estimate
    possible: Estimate
    n_possible: int | None
    unlisted: Sequence[str]
    counts: Mapping[str, int]

    def to_json(self) -> EvennessDocument:
        """The evenness as JSON types. `n` counts values, each as often as a profile names it."""
        return {
            "n": sum(self.counts.values()),
            "profiles": self.occurring.n_items,
            "n_possible": self.n_possible,
            "n_occurring": len(self.counts),
            "unlisted": list(self.unlisted),
            "occurring": self.occurring.to_json(),
            "possible": self.possible.to_json(),
            "counts": dict(self.counts),
        }


def evenness(
    held: Sequence[Sequence[str]],
    possible: Sequence[str] | None = None,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Evenness:
    """Compute how evenly the values that profiles hold are spread.

    Parameters
    ----------
    held
        The values of each profile, every item of a list counted, also one that stands there twice.
    possible
        All values that a profile could hold; None where it may hold any.
    bootstrap, confidence, seed
        How the intervals are made. Entropy is underestimated where there are few profiles per value, in the
        sample and once more in its resamples; BCa corrects part of it.
    """
    kinds = Counter(tuple(sorted(values)) for values in held if values)  # profiles that hold the same share a row
    counts = Counter(value for values in held for value in values)
    place = {value: n for n, value in enumerate(sorted(counts))}
    rows = np.zeros((len(kinds), len(place)))
    for row, kind in zip(rows, kinds, strict=True):
        np.add.at(row, [place[value] for value in kind], 1)
    unlisted = [] if possible is None else sorted(set(counts) - set(possible))
    n = None if possible is None else len(set(possible)) + len(unlisted)
    resampling = Resampling(
        unit=np.arange(len(kinds)),
        stratum=np.zeros(len(kinds), dtype=np.int64),
        item_weights=np.ones(len(kinds)),
        n_replicates=bootstrap,
        confidence=confidence,
        seed=seed,
        copies=np.array(list(kinds.values()), dtype=np.int64),
        unit_name="profiles",
    )
    replicates = replicate([SumStatistic(rows, lambda sums: compute_both(sums, n))], resampling)[0]
    basis = Basis(n_items=kinds.total(), n_raters=0, n_ratings=counts.total())
    found = estimates(replicates, resampling, [basis, basis], explain_undefined(len(counts), n), scale="share")
    occurring, over_possible = (
        drop_degenerate_interval(one, values) for one, values in zip(found, replicates.bootstrap.T, strict=True)
    )
    return Evenness(occurring, over_possible, None if possible is None else len(set(possible)), unlisted, counts)


def compute_both(sums: FloatArray, n_possible: int | None) -> FloatArray:
    """(…, 2) entropy over log n from counts (…, k): n the values that occur, and those that are possible."""
    total = sums.sum(axis=-1, keepdims=True)
    entropy = np.where(total[..., 0] > 0, scipy.special.entr(ratio(sums, total)).sum(axis=-1), np.nan)
    occurring = (sums > 0).sum(axis=-1)
    possible = np.full_like(occurring, n_possible or 0)
    return np.stack([ratio(entropy, np.log(np.maximum(n, 1))) for n in (occurring, possible)], axis=-1)


def explain_undefined(n_occurring: int, n_possible: int | None) -> list[str]:
    """Why there is no evenness over the values that occur, and none over those that are possible."""
    if not n_occurring:
        return ["no values", "no values"]
    return ["only one value occurs", NO_LIST if n_possible is None else "only one value is possible"]


def drop_degenerate_interval(one: Estimate, resamples: FloatArray) -> Estimate:
    """The figure without its interval where hardly any resample is as even: they say nothing about what lies above."""
    below, above = (resamples < one.value - SAME).sum(), (resamples > one.value + SAME).sum()
    is_outside = not np.isnan(one.low) and not one.low <= one.value <= one.high
    if not is_outside and above >= (1 - one.confidence) / 2 * below:
        return one
    return replace(one, low=np.nan, high=np.nan, reason=ONE_SIDED, method="none", seed=None, se=np.nan, df=np.nan)
