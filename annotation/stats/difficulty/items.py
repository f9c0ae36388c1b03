"""Difficulty of every item of a table, and the tier it probably has: what the page *Tiers* shows.

An item is as difficult as fresh people would disagree on it. At each node of the fitted model two people drawn from the
study's people agree with a certain probability: of an ordered scale of q categories answers d steps apart agree by
1 - d / (q - 1), of rankings by the share of pairs of responses that they order alike. Its posterior mean gives the
difficulty, its posterior distribution the probability of each tier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from annotation.stats.bands import TIERS, Cuts, check_cuts
from annotation.stats.difficulty.components import MOST_CATEGORIES, Component, components, fit_component, is_number
from annotation.stats.difficulty.described import FIELDS, build_undefined
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.numbers import MOST_ANSWERS
from annotation.stats.difficulty.people import PersonFit
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.difficulty.result_types import DifficultyHead, DifficultyItems, ItemDifficultyDocument
from annotation.stats.estimate import number_or_none
from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, Level, RatingTable

AGREEMENT_CUTS: Cuts = (0.6, 0.75, 0.9)
"""Upper ends of contested, hard and medium: the probability that two fresh people agree."""

CLEAR = 0.8
"""An item whose likeliest tier is less probable is not clear."""


@dataclass(frozen=True, eq=False)
class Difficulty:
    """Difficulty of the n items of a table.

    Attributes
    ----------
    method
        Of the largest group: ``"graded response"``, ``"paired comparison"``, ``"Plackett-Luce"``, ``"categories"``
        or ``"linear mixed model"``.
    cuts
        Upper ends of contested, hard and medium, as the probability that two fresh people agree.
    categories, items
        The scale; names of the items in the order of the table.
    value, low, high
        (n,) probability that two fresh people disagree, with the central 95 % of its posterior; NaN without ratings.
    tiers
        (n, 4) probability of each of `TIERS`.
    answers
        (n, q) posterior probability of a fresh person's answer: a soft label. (n, 0) of more than 1,001 numbers.
    component
        (n,) which of the groups of people who share items it was fitted with; -1 without ratings.
    people
        Severity, consistency and fit of each person.
    thresholds
        By component, where one category ends, in standard deviations of the trait; empty on unordered scales.
    reasons
        By component, why it could not be fitted.
    consensus
        (n, q) probability that it is the answer of many fresh people: the most frequent, on ordered scales the median.
    """

    method: str
    cuts: Cuts
    categories: tuple[Label, ...]
    items: tuple[str, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    tiers: FloatArray
    answers: FloatArray
    component: IntArray
    people: tuple[PersonFit, ...]
    thresholds: tuple[tuple[float, ...], ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    consensus: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def fitted(self) -> BoolArray:
        """(n,) items with a difficulty."""
        return np.asarray(~np.isnan(self.value))

    @property
    def tier(self) -> tuple[str | None, ...]:
        """The likeliest tier of each item."""
        best = np.argmax(np.nan_to_num(self.tiers), axis=1)
        return tuple(TIERS[k] if there else None for k, there in zip(best.tolist(), self.fitted, strict=True))

    @property
    def clear(self) -> BoolArray:
        """(n,) items whose likeliest tier has at least probability `CLEAR`."""
        return np.asarray(np.nan_to_num(self.tiers).max(axis=1, initial=0.0) >= CLEAR)

    @property
    def expected_counts(self) -> dict[str, float]:
        """How many items there are of each tier: sums of probabilities."""
        totals = np.nansum(self.tiers, axis=0)
        return dict(zip(TIERS, totals.tolist(), strict=True))

    def to_json(self) -> DifficultyItems:
        """As JSON types, item by item."""
        return {**self.to_head(), "items": self.rows()}

    def to_head(self) -> DifficultyHead:
        """The same without the items."""
        return {
            "method": self.method,
            "cuts": list(self.cuts),
            "expected_counts": self.expected_counts,
            "clear": int(self.clear.sum()),
            "people": [one.to_json() for one in self.people],
            "thresholds": [list(one) for one in self.thresholds],
            "reasons": list(self.reasons.values()),
        }

    def rows(self) -> list[ItemDifficultyDocument]:
        """The items as JSON types."""
        rows = zip(
            self.items, self.value, self.low, self.high, self.tiers, self.tier, self.clear, self.answers, strict=True
        )
        return [
            {
                "item": item,
                "difficulty": {
                    "value": number_or_none(value),
                    "low": number_or_none(low),
                    "high": number_or_none(high),
                    "reason": None if tier else "no rating, or its people could not be fitted",
                },
                "tiers": dict(zip(TIERS, map(number_or_none, of.tolist()), strict=True)),
                "tier": tier,
                "clear": bool(clear),
                "soft_label": self._soft_label(answers) if tier else None,
            }
            for item, value, low, high, of, tier, clear, answers in rows
        ]

    def _soft_label(self, answers: FloatArray) -> dict[str, float] | None:
        """By category, the probability of a fresh person's answer; None of more than `MOST_CATEGORIES`."""
        if not 0 < len(answers) <= MOST_CATEGORIES:
            return None
        return dict(zip(map(str, self.categories), answers.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class FittedGroups:
    """People and items of a table fitted together; cut-offs of tiers are no part of it.

    Attributes
    ----------
    groups
        Of each group of people who share items, its items (rows of the table) and its fit.
    component
        (n,) the group of each item, -1 without ratings.
    reasons
        By group, why it could not be fitted.
    categories, items
        Of the table.
    """

    groups: tuple[tuple[IntArray, Component], ...]
    component: IntArray
    reasons: Mapping[int, str]
    categories: tuple[Label, ...]
    items: tuple[str, ...]

    def describe(self, cuts: Cuts) -> Difficulty:
        """Difficulty and tiers at these cut-offs. Raises ``ValueError`` where they are not ascending."""
        check_cuts(cuts)
        spelled_out = len(self.categories) if len(self.categories) <= MOST_ANSWERS else 0
        found = build_undefined(len(self.items), spelled_out)
        people: list[PersonFit] = []
        thresholds: list[tuple[float, ...]] = []
        for rows, part in self.groups:
            described = part.describe(cuts)
            for name in FIELDS:
                getattr(found, name)[rows] = getattr(described, name)
            people += part.people
            thresholds.append(part.thresholds)
        return Difficulty(
            max(self.groups, key=lambda group: len(group[0]))[1].method, cuts, self.categories, self.items,
            found.value, found.low, found.high, found.tiers, found.answers, self.component,
            tuple(people), tuple(thresholds), self.reasons, found.consensus,
        )  # fmt: skip


def difficulty(table: RatingTable, *, cuts: Cuts = AGREEMENT_CUTS, shown: Shown | None = None) -> Difficulty:
    """Fit people and items of a table together, and describe its items at these cut-offs.

    Raises
    ------
    NoConvergenceError
        If no group of people can be fitted; the message says why.
    ValueError
        If the cuts are not ascending.
    """
    check_cuts(cuts)
    return fit_groups(table, shown).describe(cuts)


def fit_groups(table: RatingTable, shown: Shown | None = None) -> FittedGroups:
    """Fit each group of people who share items, directly or through others, by itself.

    Severities of people who share none cannot be compared. Inclusion probabilities weigh items in the fit of people;
    clusters widen the intervals of severities. ``shown`` says in which order people saw two responses, and whose they
    are; its categories run from the first response to the second. A nominal scale of three categories, one a tie, is a
    preference without it too.

    Raises
    ------
    NoConvergenceError
        If none can be fitted; the message says why.
    """
    _refuse(table)
    component, of_person = components(table)
    groups: list[tuple[IntArray, Component]] = []
    reasons: dict[int, str] = {}
    for number in range(int(component.max()) + 1):
        rows, columns = np.flatnonzero(component == number), np.flatnonzero(of_person == number)
        try:
            groups.append((rows, fit_component(table, rows, columns, shown)))
        except NoConvergenceError as why:
            reasons[number] = str(why)
    if not groups:
        raise NoConvergenceError("; ".join(dict.fromkeys(reasons.values())))
    return FittedGroups(tuple(groups), component, reasons, table.categories, table.items)


NO_MODEL: dict[Level, str] = {
    "set": "there is no model of sets of categories; ask of each category alone for one",
    "spans": "there is no model of marked spans",
    "text": "texts are not compared",
}
"""By level, why the model is not fitted."""


def _refuse(table: RatingTable) -> None:
    if not table.n_items or not (table.codes != MISSING).any():
        raise NoConvergenceError("there are no ratings")
    if table.level in NO_MODEL:
        raise NoConvergenceError(NO_MODEL[table.level])
    if table.n_categories > MOST_CATEGORIES and not is_number(table) and table.level != "ranking":
        raise NoConvergenceError(f"{table.n_categories} categories; the model takes {MOST_CATEGORIES}")
    if int(table.ratings_per_item.max()) < 2:
        raise NoConvergenceError("every item has one rating: difficulty cannot be told from severity")
