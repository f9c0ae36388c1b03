"""Tiers: how contested each item is, by the kappa of its own ratings, and each group, by Fleiss' kappa.

PersonaFeedback (arXiv 2506.12915) sorts cases by the agreement of nine annotators; its hard tier is
0.4 < kappa <= 0.6. Here kappa_i = (P_i - P_e) / (1 - P_e), P_i the share of agreeing pairs of ratings of
item i; on an ordered scale the mean credit of its pairs by quadratic weights (Cohen 1968), so that 4, 4, 5 on a scale
of seven is no dispute; of rankings the share of pairs of responses that are ordered alike, of sets their MASI.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annotation.stats import chance_corrected as chance, label_sets, masi
from annotation.stats.arrays import find_smallest_step, ratio
from annotation.stats.attainable import TierPlan, plan_tiers, unreachable_tiers
from annotation.stats.bands import (
    DEFAULT_CUTS,
    NAMES,
    Cuts,
    band_positions,
    check_cuts,
    count_tiers,
    find_tier,
    tier_counts,
    tier_places,
)
from annotation.stats.drawing import BUDGET
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import Basis, estimates
from annotation.stats.kemeny import random_agreement
from annotation.stats.rankings import have_ties, responses_of
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.result_types import ShiftedTiersDocument, TierGroupDocument
from annotation.stats.table import FloatArray, IntArray, RatingTable
from annotation.stats.warnings import StatWarning
from annotation.stats.weighting import compute_weights, default_weighting, positions

Chance = Literal["uniform", "margins"]

MOST_PLACES = 1000
"""Ratings of an item times steps of its scale up to which all attainable kappas are listed."""

SHIFTS = (-0.1, -0.05, 0.0, 0.05, 0.1)
"""How far the sensitivity table moves the cuts."""


@dataclass(frozen=True)
class CountedTier:
    """One item's tier.

    Attributes
    ----------
    item
        Its name.
    n_ratings
        How many ratings it has.
    kappa
        Its kappa, at most 1; NaN below two ratings.
    tier
        One of `TIERS`; None where there is no kappa.
    reason
        Why there is no tier; None where there is one.
    stability
        Share of redraws of its ratings that land in the same tier, 0 to 1; NaN where not computed.
    """

    item: str
    n_ratings: int
    kappa: float
    tier: str | None
    reason: str | None
    stability: float


@dataclass(frozen=True)
class GroupTier:
    """Fleiss' kappa of a group of items, its tier, and the tiers at the ends of its interval."""

    group: str
    n_items: int
    fleiss_kappa: Estimate
    percent_agreement: Estimate
    tier: str | None
    tier_low: str | None
    tier_high: str | None

    def to_json(self) -> TierGroupDocument:
        """The group as JSON types."""
        return {
            "group": self.group,
            "n_items": self.n_items,
            "fleiss_kappa": self.fleiss_kappa.to_json(),
            "percent_agreement": self.percent_agreement.to_json(),
            "tier": self.tier,
            "tier_low": self.tier_low,
            "tier_high": self.tier_high,
        }


@dataclass(frozen=True, eq=False)
class TierResult:
    """The tiers of a rating table.

    Attributes
    ----------
    cuts
        Upper ends of contested, hard and medium.
    chance, chance_agreement
        Where P_e comes from, and P_e.
    names, sizes, kappas, places, stabilities
        Every item's tier, as columns: its name, number of ratings, kappa, position in `TIERS` and stability.
    plans
        For each number of ratings that occurs: attainable kappas and empty bands; nothing of rankings, sets
        and numbers without a scale.
    sensitivity
        Counts per tier with all cuts moved by each of `SHIFTS`.
    seed, draws
        How the stability was found.
    warnings
        Tiers that no item can reach.
    """

    cuts: Cuts
    chance: Chance
    chance_agreement: float
    names: tuple[str, ...]
    sizes: IntArray
    kappas: FloatArray
    places: IntArray
    stabilities: FloatArray
    plans: tuple[TierPlan, ...]
    sensitivity: tuple[ShiftedTiersDocument, ...]
    seed: int
    draws: int
    warnings: tuple[StatWarning, ...] = ()

    @property
    def items(self) -> tuple[CountedTier, ...]:
        """Every item's tier."""
        rows = zip(
            self.names,
            self.sizes.tolist(),
            self.kappas.tolist(),
            self.places.tolist(),
            self.stabilities.tolist(),
            strict=True,
        )
        return tuple(CountedTier(item, n, kappa, NAMES[k], _why_no_tier(n, kappa), s) for item, n, kappa, k, s in rows)

    @property
    def counts(self) -> dict[str, int]:
        """Number of items per tier, and of those without one as ``"none"``."""
        return count_tiers(self.places)

    def rows(self, which: IntArray) -> list[dict[str, object]]:
        """Those of the items as JSON types, new dicts."""
        columns = (self.sizes, self.kappas, self.places, self.stabilities)
        parts = zip(which.tolist(), *(column[which].tolist() for column in columns), strict=True)
        return [
            {
                "item": self.names[row],
                "n_ratings": n,
                "kappa": number_or_none(kappa),
                "tier": NAMES[place],
                "reason": _why_no_tier(n, kappa),
                "stability": number_or_none(stable),
            }
            for row, n, kappa, place, stable in parts
        ]

    def to_json(self) -> dict[str, object]:
        """The result as JSON types."""
        return {**self.to_head(), "items": self.rows(np.arange(len(self.names)))}

    def to_head(self) -> dict[str, object]:
        """The same without the items, in whose place there is nothing yet."""
        return {
            "cuts": list(self.cuts),
            "chance": self.chance,
            "chance_agreement": number_or_none(self.chance_agreement),
            "counts": self.counts,
            "items": (),
            "plans": [plan.to_json() for plan in self.plans],
            "sensitivity": list(self.sensitivity),
            "seed": self.seed,
            "draws": self.draws,
            "warnings": [warning.to_json() for warning in self.warnings],
        }


def tiers(
    table: RatingTable,
    *,
    cuts: Cuts = DEFAULT_CUTS,
    chance: Chance = "uniform",
    draws: int = 1000,
    seed: int = 0,
) -> TierResult:
    """The tier of each item with its stability, what tiers are attainable, and how the cuts matter.

    Parameters
    ----------
    table
        The ratings. Agreement is exact on a nominal scale and by quadratic weights on an ordered one.
    cuts
        Three ascending kappas; a kappa on a cut belongs to the tier below it.
    chance
        ``"uniform"``: P_e of equally probable categories, 1 / q on a nominal scale, 1/2 of rankings without ties, of
        sets the mean MASI of all sets of the categories that occur;
        ``"margins"``: of the table's category shares p_k, the sum of p_k^2 on a nominal scale.
    draws
        Number of redraws of each item's raters for its stability; 0 for none. A redraw takes as many ratings
        as the item has, with replacement from its own. A unanimous item therefore never moves.
    seed
        Seed of the redraws.

    Raises
    ------
    ValueError
        If the cuts are not three ascending numbers, or ``draws`` is negative.
    """
    check_cuts(cuts)
    if draws < 0:
        raise ValueError(f"the number of draws is {draws}; it must be 0 or more")
    expected = chance_agreement(table, chance)
    kappa = item_kappas(table, expected)
    stability = tier_stability(table, cuts=cuts, expected=expected, draws=draws, seed=seed)
    plans = tuple(_plans(table, cuts, expected))
    return TierResult(
        cuts=cuts,
        chance=chance,
        chance_agreement=expected,
        names=table.items,
        sizes=table.ratings_per_item.astype(np.int64),
        kappas=kappa,
        places=tier_places(kappa, cuts),
        stabilities=stability,
        plans=plans,
        sensitivity=tuple(sensitivity(kappa, cuts)),
        seed=seed,
        draws=draws,
        warnings=tuple(unreachable_tiers(plans)),
    )


def chance_agreement(table: RatingTable, chance_from: Chance) -> float:
    """P_e, 0 to 1: the mean credit of two ratings with equally probable categories, or with the table's shares."""
    if chance_from not in ("uniform", "margins"):
        raise ValueError(f"chance is {chance_from!r}; it must be 'uniform' or 'margins'")
    if not table.n_categories:
        return float("nan")
    if table.level == "ranking" and chance_from == "uniform":
        rankings = [str(category) for category in table.categories]
        return random_agreement(len(responses_of(rankings[0])), with_ties=have_ties(rankings))
    if table.level == "set" and chance_from == "uniform":
        return masi.random_agreement(len(label_sets.options_of(str(one) for one in table.categories)))
    weights = compute_weights(table, default_weighting(table))
    shares = chance.margins(table) if chance_from == "margins" else np.full(len(weights), 1 / len(weights))
    return float(shares @ weights @ shares)


def item_kappas(table: RatingTable, expected: float) -> FloatArray:
    """(n_items,) kappa of each item against chance agreement ``expected``; NaN below two ratings."""
    return chance.correct_for_chance(chance.item_agreement(table), np.full(table.n_items, expected))


def tier_stability(table: RatingTable, *, cuts: Cuts, expected: float, draws: int, seed: int) -> FloatArray:
    """(n_items,) share of redraws of an item's ratings that stay in its tier; NaN where it has none."""
    stability = np.full(table.n_items, np.nan)
    rated = table.pairable & np.isfinite(item_kappas(table, expected))
    if not draws or not rated.any():
        return stability
    # items with the same counts have the same stability: found once, it is the same in print
    distinct, which = np.unique(table.counts[rated].astype(np.int64), axis=0, return_inverse=True)
    weights = compute_weights(table, default_weighting(table))
    home = _bands_of(distinct, weights, expected, cuts)
    rng = np.random.default_rng(seed)
    size = distinct.sum(axis=1)
    chunk = max(1, BUDGET // distinct.size)
    stayed = np.zeros(len(distinct))
    for start in range(0, draws, chunk):
        redrawn = rng.multinomial(size, distinct / size[:, None], size=(min(chunk, draws - start), len(distinct)))
        stayed += (_bands_of(redrawn, weights, expected, cuts) == home).sum(axis=0)
    stability[rated] = (stayed / draws)[which.ravel()]
    return stability


def _bands_of(counts: IntArray, weights: FloatArray, expected: float, cuts: Cuts) -> IntArray:
    """(…) position in `TIERS` of items with the given counts (…, q) of two or more ratings."""
    size = counts.sum(axis=-1)
    observed = (counts * (counts @ weights - 1)).sum(axis=-1) / (size * (size - 1))
    return band_positions((observed - expected) / (1 - expected), cuts)


def sensitivity(kappa: FloatArray, cuts: Cuts, shifts: Sequence[float] = SHIFTS) -> list[ShiftedTiersDocument]:
    """Counts per tier with all cuts moved by each shift: ``{"shift", "cuts", "counts"}``."""
    moved = [(shift, tuple(round(cut + shift, 10) for cut in cuts)) for shift in shifts]
    return [
        {"shift": shift, "cuts": list(new), "counts": tier_counts(kappa, (new[0], new[1], new[2]))}
        for shift, new in moved
    ]


def group_tiers(
    table: RatingTable,
    groups: Sequence[str],
    *,
    cuts: Cuts = DEFAULT_CUTS,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[GroupTier]:
    """Fleiss' kappa of each group of items with its interval and tier, in the order of the groups' names.

    ``groups`` names the group of each item (a domain, a task, a batch). Raises ``ValueError`` where there is
    not one per item.
    """
    check_cuts(cuts)
    if len(groups) != table.n_items:
        raise ValueError(f"{len(groups)} groups for {table.n_items} items")
    labels = np.array([str(group) for group in groups], dtype=object)
    found = []
    for group in sorted(set(labels.tolist())):
        part = table.subset_items(labels == group)
        resampling = Resampling.from_table(part, bootstrap=bootstrap, confidence=confidence, seed=seed)
        found.append(_group_tier(group, part, resampling, cuts))
    return found


def _group_tier(group: str, table: RatingTable, resampling: Resampling, cuts: Cuts) -> GroupTier:
    pairable = table.pairable
    basis = Basis(int(pairable.sum()), table.n_raters, int(table.ratings_per_item[pairable].sum()))
    replicates = replicate([_agreement_of_group(table)], resampling)[0]
    percent, kappa = estimates(
        replicates, resampling, [basis] * 2, [chance.explain_undefined(table)] * 2, scale=("share", "coefficient")
    )
    tier, low, high = (find_tier(value, cuts) for value in (kappa.value, kappa.low, kappa.high))
    return GroupTier(group, table.n_items, kappa, percent, tier, low, high)


def _agreement_of_group(table: RatingTable) -> SumStatistic:
    """Percent agreement and Fleiss' kappa alone; of rankings and ordered scales by weights (Gwet 2014, chapter 3).

    Of the five coefficients the weighted one is Gwet's: its observed agreement is taken over, its chance is not.
    """
    usual = chance.chance_corrected(table)
    if table.level == "nominal":
        return SumStatistic(usual.contributions, lambda sums: usual.function(sums)[..., :2], _count_pairable)
    weights, rated = compute_weights(table, default_weighting(table)), table.ratings_per_item > 0
    credit = np.where(table.pairable, np.nan_to_num(chance.item_agreement(table)), 0.0)
    shares = table.counts / np.maximum(table.ratings_per_item, 1)[:, None]
    own = np.column_stack([table.pairable, credit, rated, shares]).astype(float)
    k = usual.contributions.shape[1]

    def values(sums: FloatArray) -> FloatArray:
        pairable, credits, n_rated = np.moveaxis(sums[..., k : k + 3], -1, 0)
        margins = ratio(sums[..., k + 3 :], n_rated[..., None])
        expected = np.einsum("...i,ij,...j->...", margins, weights, margins)
        kappa = chance.correct_for_chance(ratio(credits, pairable), expected)
        return np.stack([usual.function(sums[..., :k])[..., 0], kappa], axis=-1)

    return SumStatistic(np.hstack([usual.contributions, own]), values, _count_pairable)


def _count_pairable(sums: FloatArray) -> FloatArray:
    """(…, 2) number of pairable items, over which percent agreement is a mean; kappa is none."""
    return chance.count_pairable(sums)[..., :2]


def _why_no_tier(n_ratings: int, kappa: float) -> str | None:
    if n_ratings < 2:
        return "no ratings" if n_ratings == 0 else "only one rating"
    return "one category used: chance alone agrees fully" if np.isnan(kappa) else None


def _plans(table: RatingTable, cuts: Cuts, expected: float) -> list[TierPlan]:
    if not np.isfinite(expected) or expected >= 1 or not table.has_scale:
        return []  # what an item of rankings, sets or any numbers can have is not listed: most differ a little
    sizes = sorted({int(size) for size in table.ratings_per_item[table.pairable]})
    if table.level == "nominal":
        return [plan_tiers(size, table.n_categories, cuts=cuts, expected=expected) for size in sizes]
    places = whole_places(table)
    if places is None or max(sizes, default=0) * max(places) > MOST_PLACES:
        return []
    return [plan_tiers(size, table.n_categories, cuts=cuts, expected=expected, places=places) for size in sizes]


def whole_places(table: RatingTable) -> tuple[int, ...] | None:
    """Where the categories of an ordered scale stand, in whole steps from 0; None without whole steps."""
    at = positions(table)
    places = (at - at.min(initial=np.inf)) / find_smallest_step(at)
    whole = np.rint(places)
    return tuple(whole.astype(int).tolist()) if np.allclose(places, whole) and len(places) > 1 else None
