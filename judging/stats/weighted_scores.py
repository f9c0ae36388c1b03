"""A judge's score on an item as a mean over the scale, weighted by how probable each value is (pure).

Liu et al. (2023), "G-Eval", EMNLP, section 2.3: the sum over the scale of value times probability. The probabilities
are the model's own where it tells them, else the shares of its repeated answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PROBABILITIES, REPEATS, BOTH, VERDICT = "probabilities", "repeats", "probabilities and repeats", "verdict alone"


@dataclass(frozen=True, slots=True)
class Opinion:
    """One reply: its verdict, and the probability of each value where the model told it."""

    value: str
    distribution: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A score with what it was made from.

    Attributes
    ----------
    score
        In units of the scale, between its ends.
    distribution
        Probability of each value with a number; sums to 1.
    source
        `PROBABILITIES` where every reply told them, `REPEATS` where none did and there are several, `BOTH` where only
        some did, `VERDICT` for a single reply that told none: its score is its verdict.
    n
        Replies with a verdict.
    """

    score: float
    distribution: Mapping[str, float]
    source: str
    n: int


def compute_weighted_score(opinions: Sequence[Opinion], numbers: Mapping[str, float]) -> WeightedScore | None:
    """The score of an item from all replies on it that hold a verdict; None if there is none.

    Every reply has the same weight: its distribution over the values with numbers, or all of it on its verdict.

    Parameters
    ----------
    opinions
        Replies to the same question; those without a verdict are left out.
    numbers
        The number of each value of the scale.
    """
    given = [opinion for opinion in opinions if opinion.value in numbers]
    if not given:
        return None
    told = [normalise_to_scale(opinion.distribution, numbers) for opinion in given]
    total: dict[str, float] = defaultdict(float)
    for opinion, shares in zip(given, told, strict=True):
        for value, share in (shares or {opinion.value: 1.0}).items():
            total[value] += share / len(given)
    score = sum(share * numbers[value] for value, share in total.items())
    return WeightedScore(score, dict(total), find_source(sum(map(bool, told)), len(given)), len(given))


def normalise_to_scale(distribution: Mapping[str, float], numbers: Mapping[str, float]) -> dict[str, float]:
    """The probabilities of the values with numbers, made to sum to 1; empty where they have none."""
    kept = {value: p for value, p in distribution.items() if value in numbers and p > 0}
    mass = sum(kept.values())
    return {value: p / mass for value, p in kept.items()}


def find_source(told: int, n: int) -> str:
    """What a score of `n` replies rests on, of which so many told probabilities."""
    if told:
        return PROBABILITIES if told == n else BOTH
    return REPEATS if n > 1 else VERDICT
