"""Gold: the category that an item is taken to have, and where it comes from; or why it has none.

A tie is never broken silently, a contested item is never given a label by counting, and what a person
adjudicated stands above both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.bands import DEFAULT_CUTS, TIERS, Cuts, check_cuts, tier_places
from annotation.stats.by_level import explain_missing
from annotation.stats.consensus import BY_LEVEL, find_consensus
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.difficulty.items import difficulty
from annotation.stats.estimate import number_or_none
from annotation.stats.labels import Label
from annotation.stats.majority import compute_medians, majority
from annotation.stats.result_types import GoldHead, GoldItemDocument, GoldItems
from annotation.stats.table import MISSING, NO_SCORES, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import Chance, chance_agreement, item_kappas

GoldMethod = Literal["majority", "median", "consensus", "dawid_skene", "model"]

REASONS = ("no ratings", "too few ratings", "contested", "tied", "too uncertain")
"""Why an item can have no gold, in the order in which they are looked at."""


SOURCES = 2
"""Kinds of gold before the reasons: adjudicated, and by the method."""


def choose_method(table: RatingTable) -> GoldMethod:
    """The usual rule: the median on a scale with an order, the majority of categories, else the consensus."""
    if has_consensus(table):
        return "consensus"
    return "majority" if table.level in NO_SCORES else "median"


def has_consensus(table: RatingTable) -> bool:
    """Whether gold may be an answer that nobody gave."""
    return table.is_open or table.level in BY_LEVEL


def list_methods(table: RatingTable) -> tuple[GoldMethod, ...]:
    """What gold can be made by, of these answers."""
    fit: dict[GoldMethod, bool] = {
        "majority": table.level != "spans",
        "median": table.has_scores and not table.is_open,
        "consensus": has_consensus(table),
        "dawid_skene": table.level != "spans" and not table.is_open,
        "model": explain_missing("difficulty", table.level) is None,
    }
    return tuple(method for method, fits in fit.items() if fits)


def kinds_of_gold(method: GoldMethod) -> tuple[str, ...]:
    """Where gold by this method can come from, then why an item can have none."""
    return ("adjudication", method, *REASONS)


@dataclass(frozen=True)
class GoldItem:
    """One item's gold.

    Attributes
    ----------
    item
        Its name.
    code
        Position of its category on the scale; -1 where it has none.
    source
        A `GoldMethod` or ``"adjudication"``; None where there is no gold.
    confidence
        Share of the ratings in that category for majority and median, how close people are to it for consensus,
        posterior probability for the other two, 0 to 1; 1 for an adjudicated item, NaN where there is no gold.
    reason
        One of `REASONS` where there is no gold; None where there is.
    candidates
        Positions of the categories that are tied for the first place; empty where there is no tie.
    """

    item: str
    code: int
    source: str | None
    confidence: float
    reason: str | None
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Gold:
    """The gold of a table's items.

    Attributes
    ----------
    method, cuts, chance, min_ratings, min_posterior
        How it was made.
    categories
        The scale.
    names
        Of the items, in the order of the table.
    codes
        (n_items,) positions on the scale, -1 where there is no gold.
    kinds
        (n_items,) positions in `kinds_of_gold`: where the gold comes from, or why there is none.
    confidence
        (n_items,) as in `GoldItem`.
    candidates
        (n_items, q) marks of the categories that are tied for the first place, of items without gold.
    """

    method: GoldMethod
    cuts: Cuts
    chance: Chance
    min_ratings: int
    min_posterior: float
    categories: tuple[Label, ...]
    names: tuple[str, ...]
    codes: IntArray
    kinds: IntArray
    confidence: FloatArray
    candidates: BoolArray

    @property
    def items(self) -> tuple[GoldItem, ...]:
        """Item by item, in the order of the table."""
        rows = zip(self.names, self.codes.tolist(), self.kinds.tolist(), self.confidence.tolist(), strict=True)
        return tuple(
            GoldItem(name, code, self._source(kind), confidence, self._reason(kind), self._tied(row))
            for row, (name, code, kind, confidence) in enumerate(rows)
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many items have gold from each source, and how many have none for each reason."""
        names = kinds_of_gold(self.method)
        return dict(zip(names, np.bincount(self.kinds, minlength=len(names)).tolist(), strict=True))

    @property
    def n_tied(self) -> int:
        """How many items without gold have a tie for the first place, whatever else is wrong with them."""
        if self.method == "consensus":
            return int((self.kinds == SOURCES + REASONS.index("tied")).sum())
        return int(self.candidates.any(axis=1).sum())

    def rows(self, which: IntArray) -> list[GoldItemDocument]:
        """Those of the items as JSON types, by label, new dicts."""
        columns = (self.codes, self.kinds, self.confidence)
        parts = zip(which.tolist(), *(column[which].tolist() for column in columns), strict=True)
        return [
            {
                "item": self.names[row],
                "gold": self.categories[code] if code != MISSING else None,
                "source": self._source(kind),
                "confidence": number_or_none(confidence),
                "reason": self._reason(kind),
                "candidates": [self.categories[code] for code in self._tied(row)],
            }
            for row, code, kind, confidence in parts
        ]

    def to_json(self) -> GoldItems:
        """The gold as JSON types, by label."""
        return {**self.to_head(), "items": self.rows(np.arange(len(self.names)))}

    def to_head(self) -> GoldHead:
        """The same without the items."""
        return {
            "method": self.method,
            "cuts": list(self.cuts),
            "chance": self.chance,
            "min_ratings": self.min_ratings,
            "min_posterior": self.min_posterior,
            "counts": self.counts,
            "tied": self.n_tied,
        }

    def _source(self, kind: int) -> str | None:
        return kinds_of_gold(self.method)[kind] if kind < SOURCES else None

    def _reason(self, kind: int) -> str | None:
        return REASONS[kind - SOURCES] if kind >= SOURCES else None

    def _tied(self, row: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.candidates[row]).tolist()) if self.kinds[row] >= SOURCES else ()


def gold(
    table: RatingTable,
    *,
    method: GoldMethod | None = None,
    adjudicated: npt.ArrayLike | None = None,
    cuts: Cuts = DEFAULT_CUTS,
    chance: Chance = "uniform",
    tiers: Sequence[str | None] | None = None,
    min_ratings: int = 2,
    min_posterior: float = 0.5,
) -> Gold:
    """The gold of each item.

    Parameters
    ----------
    table
        The ratings.
    method
        ``"majority"``: the category that more raters chose than any other. ``"median"``: the middle category of an
        ordered scale; where it falls between two, they are tied. ``"consensus"``: of sets, rankings, spans and numbers
        without a scale (`annotation.stats.consensus`). ``"dawid_skene"``: the most probable category
        given each rater's estimated errors. ``"model"``: the answer of many fresh people by the difficulty model, their
        median on ordered scales. By default `choose_method` of the scale.
    adjudicated
        (n_items,) positions on the scale that a person decided, -1 where none did. They stand above all.
    cuts, chance
        As in `annotation.stats.tiers.tiers`; an item whose kappa is at most the first cut is contested.
    tiers
        (n_items,) tiers to use instead, for example after overrides; None where an item has none.
    min_ratings
        Items with fewer ratings have no gold.
    min_posterior
        Below this posterior probability the answer of Dawid and Skene or of the model is too uncertain to be gold.

    Raises
    ------
    ValueError
        If a name, a length or a number is out of its range.
    NoConvergenceError
        If the difficulty model is asked for and cannot be fitted.
    """
    check_cuts(cuts)
    decided, method = _checked_codes(adjudicated, table), method or choose_method(table)
    _check(method, tiers, table, min_ratings, min_posterior)
    found = _found(table, method, min_posterior)
    table = found.table or table
    contested = _contested(table, cuts, chance, tiers)
    size = table.ratings_per_item
    wrong = np.column_stack([size == 0, size < min_ratings, contested, found.tied, found.doubtful])
    by_hand = decided != MISSING
    without = wrong.any(axis=1) & ~by_hand
    return Gold(
        method,
        cuts,
        chance,
        min_ratings,
        min_posterior,
        table.categories,
        table.items,
        codes=np.where(by_hand, decided, np.where(without, MISSING, found.codes)),
        kinds=np.where(by_hand, 0, np.where(without, SOURCES + wrong.argmax(axis=1), 1)),
        confidence=np.where(by_hand, 1.0, np.where(without, np.nan, found.confidence)),
        candidates=found.first & (without & found.tied)[:, None],
    )


def _checked_codes(codes: npt.ArrayLike | None, table: RatingTable) -> IntArray:
    if codes is None:
        return np.full(table.n_items, MISSING, dtype=np.int64)
    decided = np.asarray(codes, dtype=np.int64)
    if decided.shape != (table.n_items,):
        raise ValueError(f"adjudicated has shape {decided.shape} for {table.n_items} items")
    if decided.size and (decided.min() < MISSING or decided.max() >= table.n_categories):
        raise ValueError(f"an adjudicated code is off the scale of {table.n_categories} categories")
    return decided


def _check(
    method: str, tiers: Sequence[str | None] | None, table: RatingTable, min_ratings: int, min_posterior: float
) -> None:
    if method in get_args(GoldMethod) and method not in list_methods(table) and method != "median":
        raise ValueError(f"{method} does not fit these answers; choose one of {', '.join(list_methods(table))}")
    if method == "median" and not table.has_scores:
        raise ValueError(f"there is no median: {NO_SCORES[table.level]}")
    if method not in get_args(GoldMethod):
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(get_args(GoldMethod))}")
    if tiers is not None and len(tiers) != table.n_items:
        raise ValueError(f"{len(tiers)} tiers for {table.n_items} items")
    if min_ratings < 1:
        raise ValueError(f"the least number of ratings is {min_ratings}; it must be 1 or more")
    if not 0 <= min_posterior <= 1:
        raise ValueError(f"the least posterior is {min_posterior}; it must lie between 0 and 1")


@dataclass(frozen=True, eq=False)
class _Found:
    """What a method says of each item: code, confidence, (n, q) marks of the first place, and doubt.

    `table` has the scale that the codes are of, where it was extended.
    """

    codes: IntArray
    confidence: FloatArray
    first: BoolArray
    tied: BoolArray
    doubtful: BoolArray
    table: RatingTable | None = None


def _found(table: RatingTable, method: GoldMethod, min_posterior: float) -> _Found:
    if method == "dawid_skene":
        return _by_posterior(dawid_skene(table).posterior, table, min_posterior)
    if method == "model":
        return _by_posterior(difficulty(table).consensus, table, min_posterior)
    if method == "consensus":
        return _by_consensus(table)
    return _by_majority(table) if method == "majority" else _by_median(table)


def _by_consensus(table: RatingTable) -> _Found:
    found = find_consensus(table)
    nobody = np.zeros((table.n_items, 0), dtype=bool)
    doubtful = np.zeros(table.n_items, dtype=bool)
    return _Found(found.codes, found.closeness, nobody, found.tied, doubtful, found.table)


def _by_median(table: RatingTable) -> _Found:
    lower, upper = compute_medians(table.counts)
    categories, rated = np.arange(table.n_categories), table.ratings_per_item > 0
    first = ((categories == lower[:, None]) | (categories == upper[:, None])) & rated[:, None]
    tied = rated & (lower != upper)
    share = ratio((table.counts * (categories == lower[:, None])).sum(axis=1), table.ratings_per_item)
    doubtful = np.zeros(table.n_items, dtype=bool)
    return _Found(np.where(tied, MISSING, lower), share, first, tied, doubtful)


def _by_majority(table: RatingTable) -> _Found:
    found = majority(table)
    first = (table.counts == table.counts.max(axis=1, initial=0.0, keepdims=True)) & (table.counts > 0)
    return _Found(found.codes, found.share, first, found.tied, np.zeros(table.n_items, dtype=bool))


def _by_posterior(posterior: FloatArray, table: RatingTable, min_posterior: float) -> _Found:
    known = np.nan_to_num(posterior)
    highest = known.max(axis=1, initial=0.0)
    first = (known >= highest[:, None] - 1e-9) & (highest > 0)[:, None]
    tied, rated = first.sum(axis=1) > 1, table.ratings_per_item > 0
    codes = np.where(first.any(axis=1) & ~tied, known.argmax(axis=1) if known.shape[1] else MISSING, MISSING)
    return _Found(codes, highest, first, tied, rated & ((highest < min_posterior) | (highest == 0)))


def _contested(table: RatingTable, cuts: Cuts, chance: Chance, tiers: Sequence[str | None] | None) -> BoolArray:
    if explain_missing("tiers", table.level):
        return np.zeros(table.n_items, dtype=bool)
    if tiers is None:
        kappas = item_kappas(table, chance_agreement(table, chance))
        return np.asarray(tier_places(kappas, cuts) == TIERS.index("contested"))
    return np.array([tier == "contested" for tier in tiers], dtype=bool)
