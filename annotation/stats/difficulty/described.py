"""What a fit says of items: how likely two fresh people disagree on each, its tier, and what they would say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.bands import TIERS, Cuts
from annotation.stats.table import FloatArray, IntArray

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Described:
    """n items.

    Attributes
    ----------
    value, low, high
        (n,) expected disagreement of two fresh people, with the central 95 % of its posterior.
    tiers
        (n, 4) probability of each of `TIERS`.
    answers
        (n, q) probability of a fresh person's answer.
    consensus
        (n, q) probability that it is the answer of many fresh people: the most frequent, on ordered scales the median.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    tiers: FloatArray
    answers: FloatArray
    consensus: FloatArray

    def take(self, rows: IntArray) -> "Described":
        """Those of the items, in this order."""
        return Described(*(getattr(self, name)[rows] for name in FIELDS))


FIELDS = ("value", "low", "high", "tiers", "answers", "consensus")


def join_described(parts: Sequence[Described]) -> Described:
    """The items of all parts, one part after the other."""
    return Described(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def build_undefined(n: int, q: int) -> Described:
    """n items of which nothing is known: NaN."""
    of_items = [np.full(shape, np.nan) for shape in (n, n, n, (n, len(TIERS)), (n, q), (n, q))]
    return Described(*of_items)


def describe_posterior(
    posterior: FloatArray, agreement: FloatArray, fresh: FloatArray, consensus: FloatArray, cuts: Cuts
) -> Described:
    """From (n, N) probabilities of nodes at which fresh people agree by (N,) and answer by (q, N).

    ``consensus`` (q, N) marks the answer of many of them, as of `mark_consensus`.
    """
    low, high = _central(posterior, 1 - agreement)
    tiers = posterior @ bands(agreement, cuts)
    return Described(1 - posterior @ agreement, low, high, tiers, posterior @ fresh.T, posterior @ consensus.T)


def mark_consensus(fresh: FloatArray, *, ordered: bool) -> FloatArray:
    """(q, N) marks of the median category of answers (q, N), of the most frequent one on unordered scales."""
    place = (np.cumsum(fresh, axis=0) < 0.5).sum(axis=0) if ordered else fresh.argmax(axis=0)
    return np.asarray(np.arange(len(fresh))[:, None] == place, dtype=float)


def bands(agreement: FloatArray, cuts: Cuts) -> FloatArray:
    """(N, 4) 1 in the tier of an agreement."""
    place = np.searchsorted(np.array(cuts), agreement, side="left")
    return np.asarray(place[:, None] == np.arange(len(TIERS)), dtype=float)


def _central(posterior: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) ends of the central part of `LEVEL` of a posterior (n, N) of values (N,)."""
    order = np.argsort(values)
    below = np.cumsum(posterior[:, order], axis=1)
    tail = (1 - LEVEL) / 2
    ends = [np.argmax(below >= at, axis=1) for at in (tail, 1 - tail - 1e-12)]
    return values[order][ends[0]], values[order][ends[1]]
