"""Gold: the category that an item is taken to have, and where it comes from; or why it has none.

A tie is never broken silently, a contested item is never given a label by counting, and what a person
adjudicated stands above both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from annotation.stats.bands import DEFAULT_CUTS, Cuts, check_cuts, tier_of
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.estimate import number_or_none
from annotation.stats.labels import Label
from annotation.stats.majority import majority
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import Chance, chance_agreement, item_kappas

GoldMethod = Literal["majority", "dawid_skene"]

REASONS = ("no ratings", "too few ratings", "contested", "tied", "too uncertain")
"""Why an item can have no gold, in the order in which they are looked at."""


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
        ``"majority"``, ``"dawid_skene"`` or ``"adjudication"``; None where there is no gold.
    confidence
        Share of the ratings for the majority, posterior probability for Dawid and Skene, 0 to 1; 1 for an
        adjudicated item, NaN where there is no gold.
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


@dataclass(frozen=True)
class Gold:
    """The gold of a table's items.

    Attributes
    ----------
    method, cuts, chance, min_ratings, min_posterior
        How it was made.
    categories
        The scale.
    items
        In the order of the table.
    """

    method: GoldMethod
    cuts: Cuts
    chance: Chance
    min_ratings: int
    min_posterior: float
    categories: tuple[Label, ...]
    items: tuple[GoldItem, ...]

    @property
    def codes(self) -> IntArray:
        """(n_items,) positions on the scale, -1 where there is no gold."""
        return np.array([one.code for one in self.items], dtype=np.int64)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many items have gold from each source, and how many have none for each reason."""
        found = Counter(one.source or one.reason or "" for one in self.items)
        return {name: found[name] for name in ("adjudication", self.method, *REASONS)}

    @property
    def n_tied(self) -> int:
        """How many items without gold have a tie for the first place, whatever else is wrong with them."""
        return sum(bool(one.candidates) for one in self.items)

    def as_json(self) -> dict[str, Any]:
        """The gold as JSON types, by label."""
        return {
            "method": self.method,
            "cuts": list(self.cuts),
            "chance": self.chance,
            "min_ratings": self.min_ratings,
            "min_posterior": self.min_posterior,
            "counts": dict(self.counts),
            "tied": self.n_tied,
            "items": [
                {
                    "item": one.item,
                    "gold": self.categories[one.code] if one.code != MISSING else None,
                    "source": one.source,
                    "confidence": number_or_none(one.confidence),
                    "reason": one.reason,
                    "candidates": [self.categories[code] for code in one.candidates],
                }
                for one in self.items
            ],
        }


def gold(
    table: RatingTable,
    *,
    method: GoldMethod = "majority",
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
        ``"majority"``: the category that more raters chose than any other. ``"dawid_skene"``: the most
        probable category given each rater's estimated errors.
    adjudicated
        (n_items,) positions on the scale that a person decided, -1 where none did. They stand above all.
    cuts, chance
        As in `annotation.stats.tiers.tiers`; an item whose kappa is at most the first cut is contested.
    tiers
        (n_items,) tiers to use instead, for example after overrides; None where an item has none.
    min_ratings
        Items with fewer ratings have no gold.
    min_posterior
        Below this posterior probability Dawid and Skene's answer is too uncertain to be gold.

    Raises
    ------
    ValueError
        If a name, a length or a number is out of its range.
    """
    check_cuts(cuts)
    decided = _checked_codes(adjudicated, table)
    _check(method, tiers, table, min_ratings, min_posterior)
    found = _by_majority(table) if method == "majority" else _by_posterior(table, min_posterior)
    contested = _contested(table, cuts, chance, tiers)
    items = [
        _item(table, row, int(decided[row]), found, bool(contested[row]), method, min_ratings)
        for row in range(table.n_items)
    ]
    return Gold(method, cuts, chance, min_ratings, min_posterior, table.categories, tuple(items))


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
    """What a method says of each item: code, confidence, (n, q) marks of the first place, and doubt."""

    codes: IntArray
    confidence: FloatArray
    first: BoolArray
    tied: BoolArray
    doubtful: BoolArray


def _by_majority(table: RatingTable) -> _Found:
    found = majority(table)
    first = (table.counts == table.counts.max(axis=1, initial=0.0, keepdims=True)) & (table.counts > 0)
    return _Found(found.codes, found.share, first, found.tied, np.zeros(table.n_items, dtype=bool))


def _by_posterior(table: RatingTable, min_posterior: float) -> _Found:
    found = dawid_skene(table)
    highest = np.nan_to_num(found.posterior).max(axis=1, initial=0.0)
    first = found.posterior >= highest[:, None] - 1e-9
    return _Found(found.codes, highest, first, found.tied, found.rated & (highest < min_posterior))


def _contested(table: RatingTable, cuts: Cuts, chance: Chance, tiers: Sequence[str | None] | None) -> BoolArray:
    if tiers is None:
        kappas = item_kappas(table, chance_agreement(table, chance))
        tiers = [tier_of(kappa, cuts) for kappa in kappas.tolist()]
    return np.array([tier == "contested" for tier in tiers], dtype=bool)


def _item(
    table: RatingTable, row: int, decided: int, found: _Found, contested: bool, method: GoldMethod, min_ratings: int
) -> GoldItem:
    name = table.items[row]
    if decided != MISSING:
        return GoldItem(name, decided, "adjudication", 1.0, None)
    n = int(table.ratings_per_item[row])
    wrong = (n == 0, n < min_ratings, contested, bool(found.tied[row]), bool(found.doubtful[row]))
    if not any(wrong):
        return GoldItem(name, int(found.codes[row]), method, float(found.confidence[row]), None)
    tied = tuple(np.flatnonzero(found.first[row]).tolist()) if found.tied[row] else ()
    return GoldItem(name, MISSING, None, float("nan"), REASONS[wrong.index(True)], tied)
