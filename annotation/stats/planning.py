"""How many items, how many raters? Found by simulating the study and asking the same code that will judge it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from annotation.stats.attainable import TierPlan, plan_tiers, unreachable_tiers
from annotation.stats.bands import DEFAULT_CUTS, Cuts
from annotation.stats.chance_corrected import NAMES, chance_corrected
from annotation.stats.distinct import distinct_items
from annotation.stats.intervals import compute_intervals
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.result_types import NoteDocument, TierPlanDocument
from annotation.stats.simulated import simulate_agreement
from annotation.stats.table import FloatArray, IntArray, RatingTable
from annotation.stats.warnings import FEW_ITEMS, StatWarning

REPLICATES = 500
"""Bootstrap replicates per simulated study: the width of its interval is good to about 4 %."""

PILOT = 200
FEWEST_ITEMS = 10
MOST_ITEMS = 1_000_000
MOST_RATERS = MOST_CATEGORIES = 100
"""Of a study that is simulated in seconds and fits into memory."""

MOST_SIMULATIONS = 10_000
MOST_SIMULATED = 5000
"""Above it the width is that of this many items, scaled: by then it follows the square root closely."""

ROUNDS = 3
WIDEST = 2.0
"""Width of an interval that says nothing: kappa runs from -1 to 1."""


class SizeDocument(TypedDict):
    raters: int
    items: int | None
    ratings: int | None
    simulated_width: float


class StudyPlanDocument(SizeDocument):
    categories: int
    kappa: float
    width: float
    confidence: float
    shares: list[float]
    alternatives: list[SizeDocument]
    cheapest: SizeDocument | None
    tiers: TierPlanDocument
    overlap: int | None
    seed: int
    simulations: int
    warnings: list[NoteDocument]


@dataclass(frozen=True)
class Size:
    """A study of a size.

    Attributes
    ----------
    n_raters
        Ratings per item.
    n_items, n_ratings
        Items needed and ratings in all; None where no affordable number is enough.
    width
        Mean width of the interval at that size: simulated at sizes close by, scaled by the square root.
    """

    n_raters: int
    n_items: int | None
    n_ratings: int | None
    width: float

    def to_json(self) -> SizeDocument:
        """The size as JSON types."""
        return {
            "raters": self.n_raters,
            "items": self.n_items,
            "ratings": self.n_ratings,
            "simulated_width": self.width,
        }


@dataclass(frozen=True)
class StudyPlan:
    """What a study needs.

    Attributes
    ----------
    n_raters, n_categories, kappa, width, confidence, shares
        The question: raters per item, categories, expected kappa, wanted width of its interval at this
        confidence, expected share of each category.
    size
        The answer for ``n_raters``.
    alternatives
        The same for other numbers of raters.
    tiers
        Which tiers an item can reach at all.
    seed, simulations
        How it was found.
    warnings
        What to know.
    """

    n_raters: int
    n_categories: int
    kappa: float
    width: float
    confidence: float
    shares: tuple[float, ...]
    size: Size
    alternatives: tuple[Size, ...]
    tiers: TierPlan
    seed: int
    simulations: int
    warnings: tuple[StatWarning, ...]

    @property
    def cheapest(self) -> Size | None:
        """The size with the fewest ratings that reaches the width; None where none does."""
        possible = [one for one in self.alternatives if one.n_ratings is not None]
        return min(possible, key=lambda one: (one.n_ratings or 0, one.n_raters), default=None)

    @property
    def overlap(self) -> int | None:
        """The proposed number of raters per item: the fewest that leave no tier empty; None where none do."""
        return self.tiers.overlap

    def to_json(self) -> StudyPlanDocument:
        """The plan as JSON types."""
        return {
            **self.size.to_json(),
            "categories": self.n_categories,
            "kappa": self.kappa,
            "width": self.width,
            "confidence": self.confidence,
            "shares": list(self.shares),
            "alternatives": [one.to_json() for one in self.alternatives],
            "cheapest": self.cheapest.to_json() if self.cheapest else None,
            "tiers": self.tiers.to_json(),
            "overlap": self.overlap,
            "seed": self.seed,
            "simulations": self.simulations,
            "warnings": [warning.to_json() for warning in self.warnings],
        }


def plan_study(
    *,
    n_raters: int = 3,
    n_categories: int = 2,
    kappa: float = 0.6,
    width: float = 0.1,
    confidence: float = 0.95,
    shares: Sequence[float] | None = None,
    cuts: Cuts = DEFAULT_CUTS,
    alternatives: Sequence[int] = (2, 3, 4, 5, 7, 9),
    simulations: int = 40,
    seed: int = 0,
) -> StudyPlan:
    """The number of items at which Fleiss' kappa gets an interval of the wanted width, and what tiers exist.

    Parameters
    ----------
    n_raters, n_categories
        Ratings per item and categories, at least 2 each.
    kappa
        Expected kappa, at least 0 and below 1. The truth is unknown; try a pessimistic one too.
    width
        Wanted width of the interval, high minus low.
    confidence
        Of the interval.
    shares
        Expected share of each category; equal by default. Skewed shares need more items.
    cuts
        Of the tiers.
    alternatives
        Other numbers of raters to size the study for.
    simulations, seed
        Simulated studies per size tried, and the seed of all.

    Raises
    ------
    ValueError
        If a number is out of its range, or the shares do not fit the categories.
    """
    if seed < 0:
        raise ValueError(f"the seed is {seed}; it must not be negative")
    probabilities = _checked(n_raters, n_categories, kappa, width, shares, simulations)
    tiers = plan_tiers(n_raters, n_categories, cuts=cuts)
    ask = _Question(kappa, width, confidence, probabilities, simulations, seed)
    sizes = {n: ask.size(n) for n in sorted({n_raters, *(n for n in alternatives if n >= 2)})}
    return StudyPlan(
        n_raters=n_raters,
        n_categories=n_categories,
        kappa=kappa,
        width=width,
        confidence=confidence,
        shares=tuple(probabilities.tolist()),
        size=sizes[n_raters],
        alternatives=tuple(sizes.values()),
        tiers=tiers,
        seed=seed,
        simulations=simulations,
        warnings=(*unreachable_tiers([tiers]), *_size_warnings(sizes[n_raters])),
    )


def _checked(
    n_raters: int, n_categories: int, kappa: float, width: float, shares: Sequence[float] | None, simulations: int
) -> FloatArray:
    if n_raters < 2 or n_categories < 2:
        raise ValueError(f"{n_raters} raters and {n_categories} categories: agreement needs two of each")
    if n_raters > MOST_RATERS or n_categories > MOST_CATEGORIES:
        raise ValueError(f"{n_raters} raters and {n_categories} categories: no more than {MOST_RATERS} of each")
    if not 0 <= kappa < 1:
        raise ValueError(f"kappa is {kappa}; it must be at least 0 and below 1")
    if not 0 < width < WIDEST:
        raise ValueError(f"the width is {width}; it must lie between 0 and {WIDEST:g}")
    if not 1 <= simulations <= MOST_SIMULATIONS:
        raise ValueError(f"the number of simulations is {simulations}; it must be from 1 to {MOST_SIMULATIONS}")
    probabilities = np.full(n_categories, 1 / n_categories) if shares is None else np.asarray(shares, dtype=float)
    if len(probabilities) != n_categories:
        raise ValueError(f"{len(probabilities)} shares for {n_categories} categories")
    if probabilities.max(initial=0.0) >= 1:
        raise ValueError("one category has all of the share: there is nothing to agree on")
    return probabilities


@dataclass(frozen=True, eq=False)
class _Question:
    kappa: float
    width: float
    confidence: float
    shares: FloatArray
    simulations: int
    seed: int

    def size(self, n_raters: int) -> Size:
        """The items needed: the width falls with the square root of their number, so a few rounds suffice."""
        n_items, factors = PILOT, []
        for _ in range(ROUNDS):
            simulated = min(n_items, MOST_SIMULATED)
            factors.append(self.simulate_width(n_raters, simulated) * np.sqrt(simulated))
            n_items = max(FEWEST_ITEMS, int(np.ceil((factors[-1] / self.width) ** 2)))
        factor = float(np.mean(factors[1:]))  # the pilot may be far from the size in question
        n_items = max(FEWEST_ITEMS, int(np.ceil((factor / self.width) ** 2)))
        if n_items > MOST_ITEMS:
            return Size(n_raters, None, None, factor / MOST_ITEMS**0.5)
        return Size(n_raters, n_items, n_items * n_raters, factor / n_items**0.5)

    def simulate_width(self, n_raters: int, n_items: int) -> float:
        """Mean width of the interval of Fleiss' kappa over simulated studies in which it is defined."""
        streams = np.random.SeedSequence(self.seed, spawn_key=(n_raters, n_items)).spawn(self.simulations)
        widths = [self._one_width(n_raters, n_items, np.random.default_rng(stream)) for stream in streams]
        known = [width for width in widths if np.isfinite(width)]
        return float(np.mean(known)) if known else WIDEST

    def _one_width(self, n_raters: int, n_items: int, rng: np.random.Generator) -> float:
        codes = simulate_agreement(n_items, n_raters, shares=self.shares, kappa=self.kappa, rng=rng)
        # raters are alike here, and Fleiss' kappa does not ask who said what: sorted rows repeat more often
        distinct = distinct_items(_table(np.sort(codes, axis=1), len(self.shares)))
        resampling = Resampling.from_table(
            distinct.table,
            bootstrap=REPLICATES,
            confidence=self.confidence,
            seed=int(rng.integers(2**31)),
            copies=distinct.copies,
        )
        found = compute_intervals(replicate([_fleiss(distinct.table)], resampling)[0], resampling, "coefficient")
        return float(found.high[0] - found.low[0])


def _table(codes: IntArray, n_categories: int) -> RatingTable:
    items = tuple(str(i) for i in range(len(codes)))
    raters = tuple(f"r{j}" for j in range(codes.shape[1]))
    return RatingTable(codes, tuple(range(n_categories)), "nominal", items, raters)


def _fleiss(table: RatingTable) -> SumStatistic:
    """Fleiss' kappa alone."""
    statistic, place = chance_corrected(table), NAMES.index("fleiss_kappa")
    return SumStatistic(statistic.contributions, lambda sums: statistic.function(sums)[..., place : place + 1])


def _size_warnings(size: Size) -> list[StatWarning]:
    if size.n_items is None:
        message = f"No number of items up to {MOST_ITEMS:,} gives an interval this narrow."
        return [StatWarning("too_narrow", message)]
    if size.n_items < FEW_ITEMS:
        message = f"{size.n_items} items would do for the width, but below {FEW_ITEMS} intervals are not honest."
        return [StatWarning("few_items", message)]
    return []
