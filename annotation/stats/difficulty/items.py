"""Difficulty of every item of a table, and the tier it probably has: what the page *Tiers* shows.

An item is as difficult as fresh people would disagree on it. At each node of the fitted model two people drawn from the
study's people agree with a certain probability: of an ordered scale of q categories answers d steps apart agree by
1 - d / (q - 1). Its posterior mean gives the difficulty, its posterior distribution the probability of each tier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from annotation.stats.bands import TIERS, Cuts, check_cuts
from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import Graded
from annotation.stats.difficulty.latent import LatentFit, Model, NoConvergenceError, Ratings, fit
from annotation.stats.difficulty.people import PersonFit, people_of
from annotation.stats.estimate import number_or_none
from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import positions

AGREEMENT_CUTS: Cuts = (0.6, 0.75, 0.9)
"""Upper ends of contested, hard and medium: the probability that two fresh people agree."""

CLEAR = 0.8
"""An item whose likeliest tier is less probable is not clear."""

LEAST_ITEMS = 20
"""Items with two ratings below which people and items cannot be told apart."""

MOST_CATEGORIES = 20
AT_ONCE = 2000
"""Items whose posterior is held at a time."""
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Difficulty:
    """Difficulty of the n items of a table.

    Attributes
    ----------
    method
        ``"graded response"`` or ``"categories"``.
    cuts
        Upper ends of contested, hard and medium, as the probability that two fresh people agree.
    categories, items
        The scale; names of the items in the order of the table.
    value, low, high
        (n,) probability that two fresh people disagree, with the central 95 % of its posterior; NaN without ratings.
    tiers
        (n, 4) probability of each of `TIERS`.
    answers
        (n, q) posterior probability of a fresh person's answer: a soft label.
    component
        (n,) which of the groups of people who share items it was fitted with; -1 without ratings.
    people
        Severity, consistency and fit of each person.
    thresholds
        By component, where one category ends, in standard deviations of the trait; empty on unordered scales.
    reasons
        By component, why it could not be fitted.
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

    def as_json(self) -> dict[str, Any]:
        """As JSON types, item by item."""
        rows = zip(self.items, self.value, self.low, self.high, self.tiers, self.tier, self.clear, strict=True)
        return {
            "method": self.method,
            "cuts": list(self.cuts),
            "expected_counts": self.expected_counts,
            "clear": int(self.clear.sum()),
            "items": [
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
                }
                for item, value, low, high, of, tier, clear in rows
            ],
            "people": [one.as_json() for one in self.people],
            "thresholds": [list(one) for one in self.thresholds],
            "reasons": list(self.reasons.values()),
        }


def difficulty(table: RatingTable, *, cuts: Cuts = AGREEMENT_CUTS, fitted: "Fitted | None" = None) -> Difficulty:
    """Fit people and items of a table together; ``fitted`` where that is done already.

    People who share no item, directly or through others, are fitted apart: their severities cannot be compared.
    Inclusion probabilities weigh items in the fit of people; clusters widen the intervals of severities.

    Raises
    ------
    NoConvergenceError
        If no group of people can be fitted; the message says why.
    ValueError
        If the cuts are not ascending.
    """
    check_cuts(cuts)
    fitted = fit_parts(table) if fitted is None else fitted
    n, q = table.n_items, table.n_categories
    value, low, high = (np.full(n, np.nan) for _ in range(3))
    tiers, answers = np.full((n, len(TIERS)), np.nan), np.full((n, q), np.nan)
    people: list[PersonFit] = []
    for part in fitted.parts:
        bands = part.bands(cuts)
        for block in np.array_split(np.arange(len(part.rows)), len(part.rows) // AT_ONCE + 1):
            posterior, which = part.fit.finer(part.codes[block]).posterior, part.rows[block]
            value[which] = 1 - posterior @ part.agreement
            low[which], high[which] = _central(posterior, 1 - part.agreement)
            tiers[which] = posterior @ bands
            answers[which] = posterior @ part.fresh.T
        people += people_of(part.fit, part.codes, [table.raters[k] for k in part.columns])
    method = "categories" if _is_unordered(table) else "graded response"
    return Difficulty(
        method, cuts, table.categories, table.items, value, low, high, tiers, answers, fitted.component,
        tuple(people), tuple(part.thresholds for part in fitted.parts), fitted.reasons,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Part:
    """The fit of people who share items: over its finer nodes how far two fresh people agree, and what they say.

    Attributes
    ----------
    rows, columns
        Its items and its people in the table.
    codes
        Their ratings, item by item.
    agreement
        (N,) probability that two fresh people agree at a node.
    fresh
        (q, N) probability of a fresh person's answer at a node.
    """

    rows: IntArray
    columns: IntArray
    fit: LatentFit
    codes: IntArray
    agreement: FloatArray
    fresh: FloatArray

    @property
    def thresholds(self) -> tuple[float, ...]:
        model = self.fit.model
        return tuple(model.thresholds(self.fit.free).tolist()) if isinstance(model, Graded) else ()

    def bands(self, cuts: Cuts) -> FloatArray:
        """(N, 4) 1 in the tier of a node's agreement."""
        place = np.searchsorted(np.array(cuts), self.agreement, side="left")
        return np.asarray(place[:, None] == np.arange(len(TIERS)), dtype=float)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The fits of a table, at least one.

    Attributes
    ----------
    component
        (n,) which of the groups of people who share items each item belongs to; -1 without ratings.
    reasons
        By component, why it could not be fitted.
    """

    parts: tuple[Part, ...]
    component: IntArray
    reasons: Mapping[int, str]


def fit_parts(table: RatingTable) -> Fitted:
    """Fit each group of people who share items by itself.

    Raises
    ------
    NoConvergenceError
        If none can be fitted; the message says why.
    """
    _refuse(table)
    component, of_person = _components(table)
    parts, reasons = [], {}
    for number in range(int(component.max()) + 1):
        try:
            parts.append(_fit_part(table, np.flatnonzero(component == number), np.flatnonzero(of_person == number)))
        except NoConvergenceError as why:
            reasons[number] = str(why)
    if not parts:
        raise NoConvergenceError("; ".join(dict.fromkeys(reasons.values())))
    return Fitted(tuple(parts), component, reasons)


def _fit_part(table: RatingTable, rows: IntArray, columns: IntArray) -> Part:
    codes = table.codes[np.ix_(rows, columns)]
    paired = int(((codes != MISSING).sum(axis=1) > 1).sum())
    if len(columns) < 2:
        raise NoConvergenceError("one person alone: difficulty cannot be told from severity")
    if paired < LEAST_ITEMS:
        raise NoConvergenceError(f"{paired} items with two ratings; the model needs {LEAST_ITEMS}")
    if len(np.unique(codes[codes != MISSING])) < 2:
        raise NoConvergenceError("every answer is the same")
    part = _subset(table, rows, columns)
    ratings, clusters = _ratings(part)
    found = fit(_model(table, len(columns)), ratings, clusters)
    share = ratings.counts.sum(axis=1) / ratings.counts.sum()
    fresh = np.einsum("j,jkn->kn", share, found.finer(codes[:0]).tables.p)
    agreement = np.einsum("kn,kl,ln->n", fresh, _credit(table), fresh)
    return Part(rows, columns, found, codes, agreement, fresh)


def _subset(table: RatingTable, rows: IntArray, columns: IntArray) -> RatingTable:
    part = table.subset_items(np.isin(np.arange(table.n_items), rows))
    return RatingTable(
        part.codes[:, columns], part.categories, part.level, part.items, tuple(part.raters[k] for k in columns),
        part.values, part.clusters, None, part.weights,
    )  # fmt: skip


def _ratings(table: RatingTable) -> tuple[Ratings, csr_array | None]:
    """The ratings by kind of item, and what each kind weighs in each cluster, where there are any; mean weight 1."""
    kinds, kind = np.unique(table.codes, axis=0, return_inverse=True)
    weights = np.ones(table.n_items) if table.weights is None else table.weights / table.weights.mean()
    ratings = Ratings(kinds, np.bincount(kind.ravel(), weights).astype(float), table.n_categories)
    if table.clusters is None:
        return ratings, None
    cluster = np.unique(np.asarray(table.clusters, dtype=object).astype(str), return_inverse=True)[1]
    return ratings, csr_array((weights, (cluster, kind.ravel())))


def _model(table: RatingTable, n_people: int) -> Model:
    if _is_unordered(table):
        return Categories(n_people, table.n_categories)
    return Graded(n_people, table.n_categories, own_noise=table.n_categories > 2)


def _is_unordered(table: RatingTable) -> bool:
    return table.level == "nominal" and table.n_categories > 2


def _credit(table: RatingTable) -> FloatArray:
    """(q, q) how far two answers agree: 1 for the same; on an ordered scale less by steps, 0 for its two ends."""
    if _is_unordered(table):
        return np.eye(table.n_categories)
    place = positions(table)
    return np.asarray(1 - np.abs(np.subtract.outer(place, place)) / max(float(np.ptp(place)), 1e-12))


def _central(posterior: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) ends of the central part of `LEVEL` of a posterior (n, N) of values (N,)."""
    order = np.argsort(values)
    below = np.cumsum(posterior[:, order], axis=1)
    tail = (1 - LEVEL) / 2
    ends = [np.argmax(below >= at, axis=1) for at in (tail, 1 - tail - 1e-12)]
    return values[order][ends[0]], values[order][ends[1]]


def _refuse(table: RatingTable) -> None:
    if not table.n_items or not (table.codes != MISSING).any():
        raise NoConvergenceError("there are no ratings")
    if table.n_categories > MOST_CATEGORIES:
        raise NoConvergenceError(f"{table.n_categories} categories; the model takes {MOST_CATEGORIES}")
    if int(table.ratings_per_item.max()) < 2:
        raise NoConvergenceError("every item has one rating: difficulty cannot be told from severity")


def _components(table: RatingTable) -> tuple[IntArray, IntArray]:
    """(n,) and (r,) the group of each item and of each person; -1 for those without ratings."""
    n, r = table.codes.shape
    rows, columns = np.nonzero(table.codes != MISSING)
    links = coo_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + r, n + r))
    label = connected_components(links, directed=False)[1]
    used = np.zeros(n + r, dtype=bool)
    used[rows], used[n + columns] = True, True
    numbers = {old: new for new, old in enumerate(dict.fromkeys(label[used].tolist()))}
    found = np.array([numbers[old] if there else MISSING for old, there in zip(label.tolist(), used, strict=True)])
    return found[:n].astype(np.int64), found[n:].astype(np.int64)
