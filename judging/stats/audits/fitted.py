"""Bias apart from noise: what the fitted latent-trait model says of a judge on one criterion, as probes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.shares import count_df
from annotation.stats.table import MISSING, FloatArray, IntArray
from judging.stats.asymptotic import figure
from judging.stats.audits.central_tendency import shift_by_one
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import LEVEL, Probe, detectable, explain_clusters, not_made
from judging.stats.audits.trait_fit import NoConvergenceError, TraitFit, fit
from judging.stats.audits.trait_model import GRID, STEP, Ratings

LEAST_ITEMS = 30
"""Items with the judge's verdict and two people's labels below which no model is fitted."""
LEAST_OF_CATEGORY = 5
"""Ratings by people below which a category is joined to its neighbour."""
MOST_CATEGORIES = 10
LEAST_OF_PERSON = 20
"""Ratings below which people share a severity."""
MOST_PEOPLE = 20

MODEL = "latent-trait model"
"""What the name of a test by the model begins with."""
POINTS = "units of the scale"
COMPRESSION = "points of the judge for one point of what people share; below 1 the judge keeps to the middle"


class NotIdentifiedError(Exception):
    """The data cannot tell bias from noise, whatever the method; the message says why."""


@dataclass(frozen=True, eq=False)
class FitRequest:
    """What a model is fitted to.

    Attributes
    ----------
    people, judge
        (n, r) and (n,) scores or preferences; NaN where missing.
    shared
        Whether the judge's thresholds are people's, shifted and scaled: then severity and compression are effects.
    covariates
        By probe, the (n,) column that may move the judge beyond what it says of the trait; it has to vary.
    of_trait
        Names of the covariates on which people's verdicts may depend too.
    design
        Clusters and weights of the items.
    """

    people: FloatArray
    judge: FloatArray
    shared: bool
    covariates: Mapping[str, FloatArray]
    of_trait: tuple[str, ...]
    design: SamplingDesign = SIMPLE


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The model of one criterion.

    Attributes
    ----------
    rows
        (m,) items that it was fitted to.
    fit
        The fitted model.
    values, judge_values
        (q,) mean score of each category of people and of the judge.
    names
        Of the judge's covariates, in their order.
    n_ratings
        Number of people's ratings.
    """

    rows: IntArray
    fit: TraitFit
    values: FloatArray
    judge_values: FloatArray
    names: tuple[str, ...]
    n_ratings: int

    @property
    def df(self) -> float:
        """Of t: the effective number of clusters less one."""
        return count_df(self.fit.held)

    @property
    def is_scaled(self) -> bool:
        """Whether shifts of the judge are in units of the trait; else in those of its own noise."""
        return self.fit.scheme.shared and self.fit.scheme.ratings.n_categories > 2

    def leniency(self) -> Probe:
        """The judge's shift on an average item, against people's mean severity; people are a sample of raters."""
        at = self.fit.scheme.place(4).start
        shift, variance = float(self.fit.free[at]), float(self.fit.covariance[at, at])
        of_people, n_people = self._variance_of_people()
        df = self.df
        if of_people > 0:
            df = (variance + of_people) ** 2 / (variance**2 / self.df + of_people**2 / (n_people - 1))
        points = self._points(-shift, 0.0)
        details = {} if self.is_scaled else {"noise": self._noise()}
        return self._probe("leniency", shift, variance + of_people, points, POINTS, df, details)

    def central_tendency(self) -> Probe:
        """How far the judge's view moves when the trait moves; its noise stands beside it."""
        if not self.is_scaled:
            reason = "with two categories compression cannot be told from noise"
            return not_made("central_tendency", COMPRESSION, reason, len(self.rows))
        at = self.fit.scheme.place(5).start
        relation, variance = float(self.fit.free[at]) - 1, float(self.fit.covariance[at, at])
        found = self._probe("central_tendency", relation, variance, 1.0, COMPRESSION, self.df, {"noise": self._noise()})
        return shift_by_one(found)

    def covariate(self, name: str, unit: str) -> Probe:
        """The effect of one covariate on the judge beyond people."""
        at = self.fit.scheme.place(6).start + self.names.index(name)
        effect, variance = float(self.fit.free[at]), float(self.fit.covariance[at, at])
        return self._probe(name, effect, variance, self._points(-effect / 2, effect / 2), unit, self.df, {})

    def differences(self, n: int) -> FloatArray:
        """(n,) the judge's departure from what people and model expect of each item, in points; NaN where not used.

        The derivative of the likelihood in a shift of the judge on the item, made independent of an error in the item's
        mean trait, over its information: a mean over a group is one step towards the shift that fits the group.
        """
        shift, trait = self.fit.evaluated.judge_scores, self.fit.evaluated.trait_scores
        efficient = shift - trait * float(shift @ trait) / float(trait @ trait)
        d = np.full(n, np.nan)
        d[self.rows] = efficient / float((efficient**2).mean()) * self._points(0.0, 0.0) / self._steepness()
        return d

    def _probe(
        self,
        name: str,
        effect: float,
        variance: float,
        points: float,
        unit: str,
        df: float,
        details: Mapping[str, Estimate],
    ) -> Probe:
        se = float(np.sqrt(variance))
        half = float(scipy.special.stdtrit(df, 1 - LEVEL / 2)) * se
        ends = ((effect - half) * points, (effect + half) * points)
        return Probe(
            name,
            figure(
                effect * points,
                ends,
                n_items=len(self.rows),
                n_ratings=self.n_ratings,
                confidence=1 - LEVEL,
                method=f"{MODEL}, t",
            ),
            unit,
            f"{MODEL}, t with {df:.0f} df",
            float(2 * scipy.special.stdtr(df, -(abs(effect) / se))),
            detectable(se) * points,
            details,
        )

    def _variance_of_people(self) -> tuple[float, int]:
        """Squared standard error of people's mean severity as that of raters at large, in units of the shift."""
        scheme, n = self.fit.scheme, self.fit.scheme.ratings.n_people
        if n < 2:
            return 0.0, n
        contrast = np.vstack([np.eye(n - 1), -np.ones((1, n - 1))])
        severity = contrast @ self.fit.part(2)
        place = scheme.place(2)
        error = np.trace(contrast @ self.fit.covariance[place, place] @ contrast.T)
        between = max(0.0, float(severity @ severity - error) / (n - 1))
        scale = 1.0 if self.is_scaled else float(self.fit.part(5)[0]) ** 2
        return between * scale / n, n

    def _noise(self) -> Estimate:
        """The judge's noise over a person's, both in units of the trait; the interval is that of the logarithm."""
        scheme, covariance = self.fit.scheme, self.fit.covariance
        people = scheme.place(1).start
        own = scheme.place(4).stop - 1 if self.is_scaled else scheme.place(5).start
        slope = float(self.fit.free[own])
        if not self.is_scaled and slope <= 0:
            return figure(np.nan, (np.nan, np.nan), n_items=len(self.rows), confidence=1 - LEVEL, method="t",
                          reason="the judge's verdicts do not rise with people's")  # fmt: skip
        log, gradient = (slope, 1.0) if self.is_scaled else (float(np.log(slope)), 1 / slope)
        value = float(self.fit.free[people]) - log
        variance = covariance[people, people] + gradient**2 * covariance[own, own]
        variance -= 2 * gradient * covariance[people, own]
        half = float(scipy.special.stdtrit(self.df, 1 - LEVEL / 2) * np.sqrt(max(float(variance), 0.0)))
        ends = (float(np.exp(value - half)), float(np.exp(value + half)))
        method = "t on the logarithm"
        return figure(float(np.exp(value)), ends, n_items=len(self.rows), confidence=1 - LEVEL, method=method)

    def _steepness(self) -> float:
        """Units of the judge's noise in one unit of its shifts."""
        return float(np.exp(self.fit.part(4)[1])) if self.is_scaled else 1.0

    def _points(self, low: float, high: float) -> float:
        """Points of the scale for one unit of shift, between two shifts from where the judge is."""
        if abs(high - low) < 1e-3:
            low, high = low - 5e-4, high + 5e-4
        return (self._expected(high) - self._expected(low)) / (high - low)

    def _expected(self, shift: float) -> float:
        """The judge's mean score, its view of every item shifted."""
        scheme = self.fit.scheme
        *_, gamma, cuts, slope, _ = np.split(scheme.reduce(self.fit.free), np.cumsum(scheme.ratings.sizes)[:-1])
        spread = float(np.sqrt(1 + np.var(scheme.ratings.x @ gamma)))
        weights = np.exp(-0.5 * GRID**2) * STEP / np.sqrt(2 * np.pi)
        moved = slope[0] * spread * GRID[:, None] + self._steepness() * shift
        above = 1 - scipy.special.ndtr(cuts[None, :] - moved)
        return float(self.judge_values[0] + weights @ above @ np.diff(self.judge_values))


def fit_judge(asked: FitRequest) -> FittedModel:
    """The model of one criterion. Raises NotIdentifiedError, and NoConvergenceError where the fit fails."""
    number = (~np.isnan(asked.people)).sum(axis=1)
    usable = (number > 0) & ~np.isnan(asked.judge)
    rows = np.flatnonzero(usable)
    design = asked.design.select(rows)
    cluster = np.arange(len(rows))
    if design.clusters is not None:
        cluster = np.unique(np.asarray(design.clusters, dtype=object).astype(str), return_inverse=True)[1]
    _refuse(int((number[rows] > 1).sum()), int(number[rows].max(initial=0)), design)
    people, judge = asked.people[rows], asked.judge[rows]
    edges = _edges(people[~np.isnan(people)])
    own_edges = edges if asked.shared else _edges(judge)
    codes, verdicts = _coded(people, edges), _coded(judge, own_edges)
    if not len(edges):
        raise NoConvergenceError("people give hardly anything but one category")
    if len(np.unique(verdicts)) < 2:
        raise NoConvergenceError("the judge always gives the same category")
    names = tuple(asked.covariates)
    z = np.column_stack([_centred(asked.covariates[name][rows]) for name in names] or [np.zeros((len(rows), 0))])
    x = z[:, [names.index(name) for name in asked.of_trait if name in names]]
    weights = design.weigh(len(rows))
    weights = weights / weights.mean()
    places, who, n_people = _spread_ratings(codes)
    ratings = Ratings(places, who, n_people, len(edges) + 1, verdicts, len(own_edges) + 1, x, z, weights)
    made = fit(ratings, cluster, shared=asked.shared)
    everything = people[~np.isnan(people)]
    values = _values(everything, edges)
    own_values = values if asked.shared else _values(judge, own_edges)
    return FittedModel(rows, made, values, own_values, names, len(everything))


def _refuse(paired: int, most: int, design: SamplingDesign) -> None:
    if most < 2:
        raise NotIdentifiedError("every item has one person's label: bias cannot be told from noise without two")
    if paired < LEAST_ITEMS:
        raise NotIdentifiedError(f"{paired} items with the judge's verdict and two people's; it needs {LEAST_ITEMS}")
    if why := explain_clusters(design):
        raise NotIdentifiedError(why)


def _edges(values: FloatArray) -> FloatArray:
    """Upper ends of the categories but the last: neighbours are joined until each has enough ratings."""
    levels, counts = np.unique(values, return_counts=True)
    least = max(LEAST_OF_CATEGORY, len(values) // MOST_CATEGORIES if len(levels) > MOST_CATEGORIES else 0)
    edges, held = [], 0
    for level, count, rest in zip(levels, counts, counts.sum() - np.cumsum(counts), strict=True):
        held += count
        if held >= least and rest >= least:
            edges.append(level)
            held = 0
    return np.array(edges, dtype=float)


def _coded(values: FloatArray, edges: FloatArray) -> IntArray:
    """Categories of values; -1 where missing."""
    codes = np.searchsorted(edges, values, side="left")
    return np.where(np.isnan(values), MISSING, codes).astype(np.int64)


def _values(values: FloatArray, edges: FloatArray) -> FloatArray:
    """Mean value of each category."""
    codes = _coded(values, edges)
    means: FloatArray = np.bincount(codes, values) / np.bincount(codes)
    return means


def _centred(column: FloatArray) -> FloatArray:
    """The column less its mean; an item without a value counts as an average one."""
    return np.nan_to_num(column - np.nanmean(column))


def _spread_ratings(codes: IntArray) -> tuple[IntArray, IntArray, int]:
    """Ratings in as many places as an item has, whose they are, and how many severities there are."""
    known = codes != MISSING
    counts = known.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    own = [person for person in order[:MOST_PEOPLE] if counts[person] >= LEAST_OF_PERSON]
    others = int((np.delete(counts, own) > 0).any())
    severity = np.full(len(counts), len(own))
    severity[own] = np.arange(len(own))
    width = int(known.sum(axis=1).max())
    first = np.argsort(~known, axis=1, kind="stable")[:, :width]
    places = np.take_along_axis(codes, first, axis=1)
    who = np.where(places == MISSING, 0, severity[first])
    return places, who.astype(np.int64), len(own) + others
