"""Several verdicts on one item -> one (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

MAJORITY, MEAN = "majority", "mean"
METHODS = (MAJORITY, MEAN)


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
