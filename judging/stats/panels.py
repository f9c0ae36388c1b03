"""Several verdicts on one item -> one (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.dawid_skene import DawidSkene, dawid_skene as fit
from annotation.stats.table import MISSING, RatingTable

MAJORITY, MEAN, DAWID_SKENE = "majority", "mean", "dawid_skene"
METHODS = (MAJORITY, MEAN, DAWID_SKENE)

Vote = tuple[str, str]
"""A member, and the value that it gave."""


@dataclass(frozen=True, slots=True)
class PanelVerdict:
    """One verdict out of several.

    Attributes
    ----------
    value
        The panel's; empty where two values lead.
    distribution
        How probable each value is: the share of the votes for it or, from Dawid and Skene's model, its posterior.
    score
        The mean over the scale weighted by that distribution; None where the values have no numbers.
    """

    value: str
    distribution: Mapping[str, float]
    score: float | None = None


def majority(values: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The value that more members gave than any other, empty where two share the lead; and the share of each value."""
    counts = Counter(values)
    shares = {value: n / len(values) for value, n in counts.items()}
    best = max(counts.values())
    leading = [value for value, n in counts.items() if n == best]
    return (leading[0] if len(leading) == 1 else "", shares)


def mean(values: Sequence[str], numbers: Mapping[str, float]) -> tuple[str, float]:
    """The mean of the members' numbers, and the value of the scale next to it, the lower one of two as near."""
    centre = sum(numbers[value] for value in values) / len(values)
    nearest = min(numbers, key=lambda value: (abs(numbers[value] - centre), numbers[value]))
    return nearest, centre


def combine(
    votes: Sequence[Sequence[Vote]], *, method: str, scale: Sequence[str], numbers: Mapping[str, float]
) -> tuple[list[PanelVerdict | None], DawidSkene | None]:
    """The verdict on each item, None where nobody voted; and the model behind it where there is one.

    Parameters
    ----------
    votes
        (n_items,) the votes on each item; a member may vote several times.
    method
        One of `METHODS`.
    scale
        The values in scale order.
    numbers
        The number of each value; empty for a scale without order, of which there is no mean.

    Raises
    ------
    ValueError
        For an unknown method, and for the mean of values without numbers.
    """
    if method == DAWID_SKENE and not any(votes):
        return [None] * len(votes), None
    if method == DAWID_SKENE:
        model = fit(build_table(votes, scale), same_rater=name_columns(votes))
        return [combine_posterior(model, row, scale, numbers) for row in range(len(votes))], model
    if method not in METHODS:
        raise ValueError(f"{method!r} is not one of {', '.join(METHODS)}")
    if method == MEAN and not numbers:
        raise ValueError("values without numbers have no mean")
    return [combine_votes([value for _, value in said], method, numbers) for said in votes], None


def combine_votes(values: Sequence[str], method: str, numbers: Mapping[str, float]) -> PanelVerdict | None:
    """The most frequent value, or the one next to the mean."""
    if not values:
        return None
    leading, shares = majority(values)
    nearest = mean(values, numbers)[0] if method == MEAN else leading
    return PanelVerdict(nearest, shares, compute_expected(shares, numbers))


def combine_posterior(
    model: DawidSkene, row: int, scale: Sequence[str], numbers: Mapping[str, float]
) -> PanelVerdict | None:
    """The most probable category of an item given all votes on all items."""
    if not model.rated[row]:
        return None
    code, shares = int(model.codes[row]), model.posterior[row].tolist()
    distribution = dict(zip(scale, shares, strict=True))
    return PanelVerdict("" if code == MISSING else scale[code], distribution, compute_expected(distribution, numbers))


def compute_expected(distribution: Mapping[str, float], numbers: Mapping[str, float]) -> float | None:
    """The mean of the numbers weighted by the probabilities of their values; None without numbers.

    Liu et al. (2023), "G-Eval", section 2.3: the score of an item is the sum over the scale of value times probability.
    """
    return sum(p * numbers[value] for value, p in distribution.items()) if numbers else None


def name_columns(votes: Sequence[Sequence[Vote]]) -> list[str]:
    """A name for each column of the table: a member as often as it voted on one item at the most."""
    most: dict[str, int] = {}
    for said in votes:
        for member, n in Counter(member for member, _ in said).items():
            most[member] = max(most.get(member, 0), n)
    return [member for member, n in most.items() for _ in range(n)]


def build_table(votes: Sequence[Sequence[Vote]], scale: Sequence[str]) -> RatingTable:
    """The votes as a nominal table: an item's votes of one member stand in that member's columns."""
    columns = name_columns(votes)
    first = {member: columns.index(member) for member in columns}
    codes = np.full((len(votes), len(columns)), MISSING, dtype=np.int64)
    for row, said in enumerate(votes):
        taken: Counter[str] = Counter()
        for member, value in said:
            codes[row, first[member] + taken[member]] = scale.index(value)
            taken[member] += 1
    items, raters = map(str, range(len(votes))), map(str, range(len(columns)))
    return RatingTable(codes, tuple(scale), "nominal", tuple(items), tuple(raters))


def accuracies(model: DawidSkene) -> dict[str, object]:
    """By member, how probable it is that it says what the model takes to be true; None where that is undefined."""
    return {
        rater: None if np.isnan(accuracy) else float(accuracy)
        for rater, accuracy in zip(model.raters, model.accuracy, strict=True)
    }
