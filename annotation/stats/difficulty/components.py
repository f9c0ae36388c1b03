"""One group of people who share items: which model it gets, and what the fit says of its items and people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import scipy

from annotation.stats.bands import Cuts
from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.described import Described, describe_posterior, join_described, mark_consensus
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.latent import LatentFit, NoConvergenceError, Ratings, fit
from annotation.stats.difficulty.numbers import MOST_ANSWERS, NumbersComponent
from annotation.stats.difficulty.people import PersonFit, compute_people
from annotation.stats.difficulty.preferences import Preferences, Shown, expand_columns, fresh_answers, preference_order
from annotation.stats.difficulty.ranked import FINE_NODES, MOST_RESPONSES, RankingModel, pairwise_agreement
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import identity_weights, linear_weights, positions

LEAST_ITEMS = 20
"""Items with two ratings below which people and items cannot be told apart."""

MOST_CATEGORIES = 20
"""Of the models of categories."""

MOST_CELLS = 20_000_000
"""People times rankings times nodes of the model of rankings: 160 MB."""

AT_ONCE = 2000
"""Kinds of items whose posterior is held at a time."""


class Component(Protocol):
    """A fitted group."""

    @property
    def method(self) -> str:
        """The model that it got."""

    @property
    def people(self) -> list[PersonFit]:
        """Each person of the group."""

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Where one category ends; empty where the model has none."""

    def describe(self, cuts: Cuts) -> Described:
        """Its items."""


@dataclass(frozen=True, eq=False)
class GridComponent:
    """The fit of a latent model, and how far two answers agree (q, q).

    ``places`` (q,) are those of the categories in the table, where answers are told in another order.
    """

    table: RatingTable
    fit: LatentFit
    credit: FloatArray
    places: IntArray | None = None

    @property
    def method(self) -> str:
        """The model that it got."""
        return "graded response" if isinstance(self.fit.model, GradedResponseModel) else "categories"

    @property
    def people(self) -> list[PersonFit]:
        """Each person of the group."""
        return compute_people(self.fit, self.table.codes, self.table.raters)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Where one category of the table ends and the next begins, in standard deviations of the trait; else empty."""
        model, places = self.fit.model, self.places
        as_in_table = places is None or bool((np.diff(places) > 0).all())
        return (
            tuple(model.thresholds(self.fit.free).tolist())
            if isinstance(model, GradedResponseModel) and as_in_table
            else ()
        )

    @cached_property
    def fresh(self) -> FloatArray:
        """(q, N) what a fresh person answers at each of the finer nodes."""
        share = self.fit.ratings.counts.sum(axis=1) / self.fit.ratings.counts.sum()
        tables = self.fit.finer(self.table.codes[:0]).tables
        return np.asarray(np.einsum("j,jkn->kn", share, tables.p))

    def describe(self, cuts: Cuts) -> Described:
        """Its items, each kind of them once."""
        consensus = mark_consensus(self.fresh, ordered=not is_unordered(self.table))
        places = slice(None) if self.places is None else self.places
        told = agreements(self.fresh, self.credit), self.fresh[places], consensus[places]
        return _describe_kinds(self.fit, self.table.codes, *told, cuts)


@dataclass(frozen=True, eq=False)
class RankingPart:
    """The fit of rankings of an item's responses."""

    table: RatingTable
    fit: LatentFit
    method: str = "Plackett-Luce"
    thresholds: tuple[float, ...] = ()

    @property
    def people(self) -> list[PersonFit]:
        """Each person of the group."""
        return compute_people(self.fit, self.table.codes, self.table.raters)

    def describe(self, cuts: Cuts) -> Described:
        """Its items, each kind of them once."""
        finer = self.fit.finer(self.table.codes[:0])
        assert isinstance(finer.model, RankingModel)
        share = (self.table.codes != MISSING).sum(axis=0) / self.table.n_ratings
        agreement = pairwise_agreement(finer.model.pair_answers(finer.free, share))
        shown = self.table.n_categories if self.table.n_categories <= MOST_ANSWERS else 0
        fresh = np.asarray(np.einsum("j,jkn->kn", share, finer.tables.p))
        consensus = mark_consensus(fresh, ordered=False)
        return _describe_kinds(self.fit, self.table.codes, agreement, fresh[:shown], consensus[:shown], cuts)


def _describe_kinds(
    fit: LatentFit, codes: IntArray, agreement: FloatArray, fresh: FloatArray, consensus: FloatArray, cuts: Cuts
) -> Described:
    """The items of ``codes`` (n, columns), each kind of them once; the rest as `describe_posterior` takes it."""
    kinds, kind = np.unique(codes, axis=0, return_inverse=True)
    posteriors = (fit.finer(block).posterior for block in np.array_split(kinds, len(kinds) // AT_ONCE + 1))
    parts = [describe_posterior(posterior, agreement, fresh, consensus, cuts) for posterior in posteriors]
    return join_described(parts).take(kind.ravel())


@dataclass(frozen=True, eq=False)
class PreferenceComponent:
    """The fit of preferences; ``codes`` (n, columns) run from the first response to the second, as ``places`` say."""

    table: RatingTable
    fit: LatentFit
    codes: IntArray
    places: IntArray
    method: str = "paired comparison"
    thresholds: tuple[float, ...] = ()

    @property
    def people(self) -> list[PersonFit]:
        """Each person of the group."""
        return compute_people(self.fit, self.codes, self.table.raters)

    def describe(self, cuts: Cuts) -> Described:
        """Its items: those of the same two systems, and of the same answers, together."""
        model = self.fit.model
        assert isinstance(model, Preferences)
        share = (self.table.codes != MISSING).sum(axis=0) / self.table.n_ratings
        kinds, kind = np.unique(self.codes, axis=0, return_inverse=True)
        of_kind = model.contrast[(kinds != MISSING).argmax(axis=1)]
        contrasts, group = np.unique(of_kind, axis=0, return_inverse=True)
        posterior = self.fit.finer(kinds).posterior
        parts, order = [], []
        for number, contrast in enumerate(contrasts):
            mine = np.flatnonzero(group.ravel() == number)
            fresh = fresh_answers(model, self.fit.free, share, contrast)
            agreement = agreements(fresh, linear_weights(np.arange(float(len(fresh)))))
            consensus = mark_consensus(fresh, ordered=True)
            parts.append(
                describe_posterior(posterior[mine], agreement, fresh[self.places], consensus[self.places], cuts)
            )
            order.append(mine)
        return join_described(parts).take(np.argsort(np.concatenate(order))).take(kind.ravel())


def agreements(fresh: FloatArray, credit: FloatArray) -> FloatArray:
    """(N,) how far two fresh people agree who answer by (q, N)."""
    return np.asarray((fresh * (credit @ fresh)).sum(axis=0))


def fit_component(table: RatingTable, rows: IntArray, columns: IntArray, shown: Shown | None = None) -> Component:
    """Fit the people in these columns on the items in these rows. Raises NoConvergenceError."""
    codes = table.codes[np.ix_(rows, columns)]
    paired = int(((codes != MISSING).sum(axis=1) > 1).sum())
    if len(columns) < 2:
        raise NoConvergenceError("one person alone: difficulty cannot be told from severity")
    if paired < LEAST_ITEMS:
        raise NoConvergenceError(f"{paired} items with two ratings; the model needs {LEAST_ITEMS}")
    if len(np.unique(codes[codes != MISSING])) < 2:
        raise NoConvergenceError("every answer is the same")
    part, q = _subset(table, rows, columns), table.n_categories
    if table.level == "ranking":
        return _rankings(part)
    if is_number(table):
        return NumbersComponent.from_table(part)
    if shown is not None or preference_order(table):
        return _preferences(part, shown and shown.take(rows, columns))
    model = (
        Categories(len(columns), q) if is_unordered(table) else GradedResponseModel(len(columns), q, own_noise=q > 2)
    )
    return GridComponent(part, fit(model, *_ratings(part, part.codes)), compute_credit(table))


def _rankings(table: RatingTable) -> RankingPart:
    model = RankingModel.from_categories(table.n_raters, [str(category) for category in table.categories])
    if model.n_responses > MOST_RESPONSES:
        raise NoConvergenceError(f"{model.n_responses} responses; the model of rankings takes {MOST_RESPONSES}")
    if model.n_people * model.n_categories * FINE_NODES > MOST_CELLS:
        raise NoConvergenceError(
            f"{model.n_people} people gave {model.n_categories} different rankings; the model takes "
            f"{MOST_CELLS // FINE_NODES:,} people times rankings"
        )
    return RankingPart(table, fit(model, *_ratings(table, table.codes)))


def components(table: RatingTable) -> tuple[IntArray, IntArray]:
    """(n,) and (r,) the group of each item and of each person; -1 for those without ratings."""
    n, r = table.codes.shape
    rows, columns = np.nonzero(table.codes != MISSING)
    links = scipy.sparse.coo_array((np.ones(len(rows)), (rows, n + columns)), shape=(n + r, n + r))
    label = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    used = np.zeros(n + r, dtype=bool)
    used[rows], used[n + columns] = True, True
    numbers = {old: new for new, old in enumerate(dict.fromkeys(label[used].tolist()))}
    found = np.array([numbers[old] if there else MISSING for old, there in zip(label.tolist(), used, strict=True)])
    return found[:n].astype(np.int64), found[n:].astype(np.int64)


def fit_largest(table: RatingTable) -> Component:
    """Fit the group of people with the most items. Raises NoConvergenceError."""
    component, of_person = components(table)
    if not (component != MISSING).any():
        raise NoConvergenceError("there are no ratings")
    largest = int(np.bincount(component[component != MISSING]).argmax())
    return fit_component(table, np.flatnonzero(component == largest), np.flatnonzero(of_person == largest))


def _preferences(table: RatingTable, shown: Shown | None) -> Component:
    """Pairs differ in strength, or also in how clear they are (graded response): what tells the answers better.

    By Akaike (1974), IEEE Transactions on Automatic Control 19:716-723. Ties that nobody doubts need the second.
    """
    order = preference_order(table) or tuple(range(table.n_categories))
    places = np.argsort(order)
    codes = np.where(table.codes == MISSING, MISSING, places[table.codes])
    pairs, graded = partial(_paired, table, codes, places, shown), partial(_along, table, codes, order, places)
    found, why = _that_settle([pairs, graded])
    if not found:
        raise why
    return max(found, key=lambda part: part.fit.log_likelihood - len(part.fit.free))


def _that_settle(
    ways: Sequence[Callable[[], PreferenceComponent | GridComponent]],
) -> tuple[list[PreferenceComponent | GridComponent], NoConvergenceError]:
    found, why = [], NoConvergenceError("nothing was fitted")
    for way in ways:
        try:
            found.append(way())
        except NoConvergenceError as error:
            why = error
    return found, why


def _paired(table: RatingTable, codes: IntArray, places: IntArray, shown: Shown | None) -> PreferenceComponent:
    model, spread = expand_columns(codes, shown or Shown(np.zeros_like(codes)), table.n_categories)
    return PreferenceComponent(table, fit(model, *_ratings(table, spread)), spread, places)


def _along(table: RatingTable, codes: IntArray, order: tuple[int, ...], places: IntArray) -> GridComponent:
    scale = tuple(table.categories[code] for code in order)
    along = replace(table, codes=codes, categories=scale, level="ordinal", values=None)
    model = GradedResponseModel(table.n_raters, len(scale), own_noise=len(scale) > 2)
    return GridComponent(along, fit(model, *_ratings(along, codes)), compute_credit(along), places)


def is_number(table: RatingTable) -> bool:
    """Whether its values are numbers, more than the graded model takes."""
    return table.level in ("interval", "ratio") and table.n_categories > MOST_CATEGORIES


def is_unordered(table: RatingTable) -> bool:
    """Whether its categories have no order; two always have one."""
    return table.level == "nominal" and table.n_categories > 2


def compute_credit(table: RatingTable) -> FloatArray:
    """(q, q) how far two answers agree: 1 for the same; on an ordered scale less by steps, 0 for its two ends."""
    return identity_weights(table.n_categories) if is_unordered(table) else linear_weights(positions(table))


def _subset(table: RatingTable, rows: IntArray, columns: IntArray) -> RatingTable:
    part = table.subset_items(np.isin(np.arange(table.n_items), rows))
    return part.select_raters([table.raters[k] for k in columns])


def _ratings(table: RatingTable, codes: IntArray) -> tuple[Ratings, scipy.sparse.csr_array | None]:
    """The ratings ``codes`` (n, columns) by kind of item, and what each kind weighs in each cluster.

    Weights have mean 1; without clusters there is None.
    """
    kinds, kind = np.unique(codes, axis=0, return_inverse=True)
    weights = np.ones(table.n_items) if table.weights is None else table.weights / table.weights.mean()
    ratings = Ratings(kinds, np.bincount(kind.ravel(), weights).astype(float), table.n_categories)
    if table.clusters is None:
        return ratings, None
    cluster = np.unique(np.asarray(table.clusters, dtype=object).astype(str), return_inverse=True)[1]
    return ratings, scipy.sparse.csr_array((weights, (cluster, kind.ravel())))
