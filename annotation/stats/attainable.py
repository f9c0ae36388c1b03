"""Which per-item kappas are possible at all, and so which tiers can ever be filled.

Nine raters and two options can split only five ways; the kappa of an item takes one of five values, and
none of them is "medium". This is worth knowing before the study starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from annotation.stats.bands import DEFAULT_CUTS, TIERS, Cuts, check_cuts, tier_of

MOST_RATERS = 15
"""The largest overlap that `plan_tiers` proposes: above it, more items are the better use of people."""


@dataclass(frozen=True)
class TierPlan:
    """What a number of raters and categories allows.

    Attributes
    ----------
    n_raters, n_categories, chance_agreement, cuts
        The question.
    values
        Every kappa that an item can have, ascending.
    bands
        The values in each tier.
    empty_bands
        Tiers that no item can reach.
    overlap
        The smallest number of raters, from ``n_raters`` to `MOST_RATERS`, that leaves no tier empty; None
        where there is none.
    suggested_cuts
        Cuts that put one value each into easy, medium and hard, midway between the values; None where no
        tier is empty or there are fewer than four values.
    """

    n_raters: int
    n_categories: int
    chance_agreement: float
    cuts: Cuts
    values: tuple[float, ...]
    bands: Mapping[str, tuple[float, ...]]
    empty_bands: tuple[str, ...]
    overlap: int | None
    suggested_cuts: Cuts | None

    def as_json(self) -> dict[str, Any]:
        """The plan as JSON types."""
        return {
            "n_raters": self.n_raters,
            "n_categories": self.n_categories,
            "chance_agreement": self.chance_agreement,
            "cuts": list(self.cuts),
            "values": list(self.values),
            "bands": {name: list(values) for name, values in self.bands.items()},
            "empty_bands": list(self.empty_bands),
            "overlap": self.overlap,
            "suggested_cuts": list(self.suggested_cuts) if self.suggested_cuts else None,
        }


def plan_tiers(
    n_raters: int, n_categories: int, *, cuts: Cuts = DEFAULT_CUTS, expected: float | None = None
) -> TierPlan:
    """The attainable kappas of an item with ``n_raters`` ratings, by tier.

    ``expected`` is the chance agreement P_e, below 1; by default 1 / q. Raises ``ValueError`` on fewer than
    two raters or categories, or bad cuts.
    """
    check_cuts(cuts)
    chance = 1 / max(n_categories, 1) if expected is None else expected
    values = attainable(n_raters, n_categories, expected=chance)
    bands = _bands(values, cuts)
    empty = tuple(name for name in TIERS if not bands[name])
    return TierPlan(
        n_raters=n_raters,
        n_categories=n_categories,
        chance_agreement=chance,
        cuts=cuts,
        values=values,
        bands=bands,
        empty_bands=empty,
        overlap=_smallest_overlap(n_raters, n_categories, cuts, chance),
        suggested_cuts=_suggested(values) if empty else None,
    )


def attainable(n_raters: int, n_categories: int, *, expected: float | None = None) -> tuple[float, ...]:
    """Every kappa that an item with ``n_raters`` ratings in ``n_categories`` categories can have, ascending.

    ``expected`` is the chance agreement P_e, below 1; by default 1 / q. Raises ``ValueError`` on fewer than
    two raters or categories.

    Examples
    --------
    >>> [round(kappa, 2) for kappa in attainable(9, 2)]
    [-0.11, 0.0, 0.22, 0.56, 1.0]
    """
    if n_raters < 2 or n_categories < 2:
        raise ValueError(f"{n_raters} raters and {n_categories} categories: agreement needs two of each")
    chance = 1 / n_categories if expected is None else expected
    if not 0 <= chance < 1:
        raise ValueError(f"chance agreement is {chance}; it must be at least 0 and below 1")
    pairs = n_raters * (n_raters - 1)
    shares = [(squares - n_raters) / pairs for squares in _sums_of_squares(n_raters, n_categories)]
    return tuple((share - chance) / (1 - chance) for share in shares)


def _sums_of_squares(total: int, parts: int) -> list[int]:
    """Every value of n_1^2 + … + n_parts^2 over whole numbers n >= 0 that add up to ``total``, ascending.

    The set of sums reachable with some parts is kept as the bits of one integer, so that adding a part is
    a shift: fast enough for a hundred raters.
    """
    reach = [1 << (n * n) for n in range(total + 1)]
    for _ in range(parts - 1):
        reach = [_any_of(reach[n - last] << (last * last) for last in range(n + 1)) for n in range(total + 1)]
    bits = bin(reach[total])[:1:-1]
    return [value for value, bit in enumerate(bits) if bit == "1"]


def _any_of(sets: Any) -> int:
    union = 0
    for one in sets:
        union |= one
    return union


def _bands(values: tuple[float, ...], cuts: Cuts) -> dict[str, tuple[float, ...]]:
    return {name: tuple(value for value in values if tier_of(value, cuts) == name) for name in TIERS}


def _smallest_overlap(n_raters: int, n_categories: int, cuts: Cuts, chance: float) -> int | None:
    for more in range(n_raters, MOST_RATERS + 1):
        if all(_bands(attainable(more, n_categories, expected=chance), cuts).values()):
            return more
    return None


def _suggested(values: tuple[float, ...]) -> Cuts | None:
    if len(values) < 4:
        return None
    first, second, third = (round((low + high) / 2, 3) for low, high in pairwise(values[-4:]))
    return first, second, third
