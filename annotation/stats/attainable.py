"""Which per-item kappas are possible at all, and so which tiers can ever be filled.

Nine raters and two options can split only five ways; the kappa of an item takes one of five values, and
none of them is "medium". This is worth knowing before the study starts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from annotation.stats.bands import DEFAULT_CUTS, TIERS, Cuts, check_cuts, find_tier
from annotation.stats.result_types import TierPlanDocument
from annotation.stats.warnings import StatWarning

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

    def to_json(self) -> TierPlanDocument:
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
    n_raters: int,
    n_categories: int,
    *,
    cuts: Cuts = DEFAULT_CUTS,
    expected: float | None = None,
    places: tuple[int, ...] | None = None,
) -> TierPlan:
    """The attainable kappas of an item with ``n_raters`` ratings, by tier.

    ``expected`` is the chance agreement P_e, below 1; by default that of equally probable categories. ``places`` are
    the categories' whole-numbered places on an ordered scale, whose near misses count as near; None on a nominal one.
    Raises ``ValueError`` on fewer than two raters or categories, or bad cuts.
    """
    check_cuts(cuts)
    chance = uniform_chance(n_categories, places) if expected is None else expected
    values = attainable(n_raters, n_categories, expected=chance, places=places)
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
        overlap=_smallest_overlap(n_raters, n_categories, cuts, chance, places),
        suggested_cuts=_suggested(values) if empty else None,
    )


def unreachable_tiers(plans: Sequence[TierPlan]) -> Iterable[StatWarning]:
    """A warning for each number of ratings that leaves a tier empty, with what would fill it."""
    for plan in plans:
        if plan.empty_bands:
            kappas = ", ".join(f"{value:.2f}" for value in plan.values)
            yield StatWarning(
                "unreachable_tiers",
                f"With {plan.n_raters} ratings in {plan.n_categories} categories no item can be "
                f"{' or '.join(plan.empty_bands)}: its kappa can only be {kappas}. {_way_out(plan)}",
            )


def _way_out(plan: TierPlan) -> str:
    ways = []
    if plan.overlap:
        ways.append(f"{plan.overlap} ratings per item reach every tier")
    if plan.suggested_cuts:
        ways.append(f"cuts at {', '.join(f'{cut:g}' for cut in plan.suggested_cuts)} fill every tier")
    return f"{'; '.join(ways).capitalize()}." if ways else "Use tiers of groups instead of items."


def uniform_chance(n_categories: int, places: tuple[int, ...] | None = None) -> float:
    """Agreement of two ratings with equally probable categories: 1 / q, or the mean credit on an ordered scale."""
    if places is None:
        return 1 / max(n_categories, 1)
    at = np.array(places, dtype=float)
    return float(1 - ((at[:, None] - at[None, :]) ** 2).mean() / max(np.ptp(at) ** 2, 1.0))


def attainable(
    n_raters: int, n_categories: int, *, expected: float | None = None, places: tuple[int, ...] | None = None
) -> tuple[float, ...]:
    """Every kappa that an item with ``n_raters`` ratings in ``n_categories`` categories can have, ascending.

    ``expected`` and ``places`` are those of `plan_tiers`. Raises ``ValueError`` on fewer than two raters or categories.

    Examples
    --------
    >>> [round(kappa, 2) for kappa in attainable(9, 2)]
    [-0.11, 0.0, 0.22, 0.56, 1.0]
    """
    if n_raters < 2 or n_categories < 2:
        raise ValueError(f"{n_raters} raters and {n_categories} categories: agreement needs two of each")
    chance = uniform_chance(n_categories, places) if expected is None else expected
    if not 0 <= chance < 1:
        raise ValueError(f"chance agreement is {chance}; it must be at least 0 and below 1")
    pairs = n_raters * (n_raters - 1)
    if places is None:
        shares = [(squares - n_raters) / pairs for squares in _sums_of_squares(n_raters, n_categories)]
    else:
        widest = (max(places) - min(places)) ** 2
        shares = [1 - 2 * apart / (pairs * widest) for apart in reversed(_distances(n_raters, places))]
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


@lru_cache(maxsize=256)
def _distances(total: int, places: tuple[int, ...]) -> tuple[int, ...]:
    """Every sum of squared distances over the pairs of ``total`` ratings at whole-numbered places, ascending.

    It is total times the sum of squares minus the square of the sum, so it is enough to know which pairs of the two
    sums can be reached, rating by rating.
    """
    at = [place - min(places) for place in places]
    reach = np.zeros((total * max(at) + 1, total * max(at) ** 2 + 1), dtype=bool)
    reach[0, 0] = True
    for _ in range(total):
        more = np.zeros_like(reach)
        for place in at:
            rows, columns = reach.shape[0] - place, reach.shape[1] - place**2
            more[place:, place**2 :] |= reach[:rows, :columns]
        reach = more
    sums, squares = np.nonzero(reach)
    return tuple(np.unique(total * squares - sums**2).tolist())


def _any_of(sets: Iterable[int]) -> int:
    union = 0
    for one in sets:
        union |= one
    return union


def _bands(values: tuple[float, ...], cuts: Cuts) -> dict[str, tuple[float, ...]]:
    return {name: tuple(value for value in values if find_tier(value, cuts) == name) for name in TIERS}


def _smallest_overlap(
    n_raters: int, n_categories: int, cuts: Cuts, chance: float, places: tuple[int, ...] | None
) -> int | None:
    for more in range(n_raters, MOST_RATERS + 1):
        if all(_bands(attainable(more, n_categories, expected=chance, places=places), cuts).values()):
            return more
    return None


def _suggested(values: tuple[float, ...]) -> Cuts | None:
    if len(values) < 4:
        return None
    first, second, third = (round((low + high) / 2, 3) for low, high in pairwise(values[-4:]))
    return first, second, third
