"""Fits the latent-trait model, and the errors of what it finds where items depend on each other."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.table import FloatArray, IntArray
from judging.stats.audits.trait_model import Likelihood, Ratings, evaluate

MOST_STEPS = 60
STEEP = 4.0
"""Standard deviation of a normal prior of a rater's slope: felt only where a rater has hardly any noise."""
DECREMENT = 1e-6
"""Newton's decrement below which the fit has converged: the log likelihood can gain no more than half of it."""
CLOSE = 0.5
"""Newton's decrement below which steps use the second derivatives instead of the products of scores."""
APART = 1e-5
"""Step of numerical derivatives."""


class NoConvergenceError(Exception):
    """The model could not be fitted; the message says why."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """The free parameters and how those of the likelihood follow from them.

    Attributes
    ----------
    shared
        Whether the judge uses people's thresholds, shifted and scaled (for scores), or its own (for pairs).
    """

    ratings: Ratings
    shared: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of thresholds, people's slope, severities, trait, the judge's thresholds, its slope, its covariates."""
        q, _, people, p, judge, _, m = self.ratings.sizes
        own = judge if not self.shared else 2 if q > 1 else 1
        return (q, 1, max(people - 1, 0), p, own, 1, m)

    def place(self, part: int) -> slice:
        """Where the part of the parameters is."""
        ends = np.r_[0, np.cumsum(self.sizes)]
        return slice(int(ends[part]), int(ends[part + 1]))

    def reduce(self, free: FloatArray) -> FloatArray:
        """The parameters of the likelihood (…, d) from the free ones (…, f)."""
        ends = np.cumsum(self.sizes)[:-1]
        steps, log_slope, severity, gamma, own, relation, beta = np.split(free, ends, axis=-1)
        thresholds, slope = _ascending(steps), np.exp(log_slope)
        last = [-severity.sum(axis=-1, keepdims=True)] if self.ratings.n_people else []
        people = slope * np.concatenate([severity, *last], axis=-1)
        if not self.shared:
            cuts, judge_slope, effects = _ascending(own), relation, beta
        elif own.shape[-1] == 1:  # two categories: shift in units of the judge's noise
            cuts, judge_slope, effects = relation * thresholds - own, relation, beta
        else:
            steep = np.exp(own[..., 1:])
            cuts, judge_slope, effects = steep * (thresholds - own[..., :1]), steep * relation, steep * beta
        parts = (slope * thresholds, slope, people, gamma, cuts, judge_slope, effects)
        return np.concatenate(parts, axis=-1)

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        """Minus half the squared slopes over `STEEP`, and its derivatives: keeps a rater without noise finite."""
        value, slope = 0.0, np.zeros(len(free))
        scaled = self.shared and self.ratings.n_categories > 2
        for place, is_log in ((self.place(1), True), (self.place(4) if scaled else self.place(5), scaled)):
            at = place.stop - 1
            steep = np.exp(free[at]) if is_log else free[at]
            value -= 0.5 * float(steep / STEEP) ** 2
            slope[at] -= steep * (steep if is_log else 1.0) / STEEP**2
        return value, slope

    def jacobian(self, free: FloatArray) -> FloatArray:
        """(d, f) derivatives of `reduce`."""
        steps = APART * np.eye(len(free))
        derivatives: FloatArray = (self.reduce(free + steps) - self.reduce(free - steps)).T / (2 * APART)
        return derivatives

    def start(self) -> FloatArray:
        """Where the fit begins: people's and the judge's shares, and a slope from how far people agree."""
        r = self.ratings
        slope = _first_slope(r)
        spread = np.sqrt(1 + slope**2)
        thresholds = _first_cuts(r.people[r.people >= 0], r.n_categories) * spread / slope
        if not self.shared:
            own = _steps(_first_cuts(r.judge, r.n_judge) * spread)
            relation = slope
        elif r.n_categories > 2:
            own, relation = np.r_[0.0, np.log(slope)], 1.0
        else:
            own, relation = np.zeros(1), slope
        zeros = [np.zeros(k) for k in (self.sizes[2], self.sizes[3])]
        return np.concatenate([_steps(thresholds), [np.log(slope)], *zeros, own, [relation], np.zeros(self.sizes[6])])


@dataclass(frozen=True, eq=False)
class TraitFit:
    """The fitted model.

    Attributes
    ----------
    free
        (f,) parameters.
    influence
        (g, f) by cluster, how far the parameters move when it is left out, in one Newton step.
    held
        (g,) weight of the items of each cluster.
    evaluated
        The likelihood at the parameters.
    """

    scheme: Scheme
    free: FloatArray
    influence: FloatArray
    held: FloatArray
    evaluated: Likelihood

    @property
    def covariance(self) -> FloatArray:
        """(f, f) jackknife over clusters (one-step, as CR3: Bell and McCaffrey 2002, Survey Methodology 28:169-181)."""
        g = len(self.influence)
        centred = self.influence - self.influence.mean(axis=0)
        covariance: FloatArray = (g - 1) / g * centred.T @ centred
        return covariance

    def part(self, part: int) -> FloatArray:
        """One part of the parameters."""
        return self.free[self.scheme.place(part)]


def fit(ratings: Ratings, clusters: IntArray, *, shared: bool) -> TraitFit:
    """Maximum likelihood, with the influence of each cluster.

    ``clusters`` (n,) are 0 … g - 1. Raises NoConvergenceError.
    """
    scheme = Scheme(ratings, shared)
    free = _maximise(scheme)
    hessians, scores = _by_cluster(scheme, free, clusters)
    total = hessians.sum(axis=0)
    if np.linalg.eigvalsh(-total)[0] < 1e-6 * ratings.n:
        raise NoConvergenceError("people and judge do not say enough to tell bias from noise")
    influence = np.linalg.solve(total[None] - hessians, scores[:, :, None])[:, :, 0]
    held = np.bincount(clusters, ratings.weights).astype(float)
    return TraitFit(scheme, free, influence, held, evaluate(ratings, scheme.reduce(free)))


def _maximise(scheme: Scheme) -> FloatArray:
    """Scoring by the products of scores (Berndt, Hall, Hall and Hausman 1974), then Newton's steps."""
    free = scheme.start()
    value, scores = _scored(scheme, free)
    hessian: FloatArray | None = None
    for _ in range(MOST_STEPS):
        gradient = scores.sum(axis=0)
        step = _solved(scores.T @ scores if hessian is None else -hessian, gradient)
        decrement = float(gradient @ step)
        if abs(decrement) < DECREMENT:
            return free
        if hessian is None and decrement < CLOSE:
            hessian = _slopes(lambda at: _scored(scheme, at)[1].sum(axis=0), free, gradient)
            continue
        free, value, scores = _improved(scheme, free, value, step)
    raise NoConvergenceError(f"the likelihood did not settle in {MOST_STEPS} steps")


def _solved(information: FloatArray, gradient: FloatArray) -> FloatArray:
    """A step uphill; with a ridge where the matrix is not positive."""
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(np.abs(values), 1e-6 * max(float(np.abs(values).max()), 1.0))
    step: FloatArray = vectors @ ((vectors.T @ gradient) / values)
    return step


def _improved(scheme: Scheme, free: FloatArray, value: float, step: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """The step, halved until the likelihood does not fall."""
    step = step * min(1.0, 1.5 / max(float(np.abs(step).max()), 1e-9))
    for _ in range(25):
        found, new = _scored(scheme, free + step)
        if np.isfinite(found) and found >= value - 1e-9:
            return free + step, found, new
        step = step / 2
    raise NoConvergenceError("no step raises the likelihood")


def _scored(scheme: Scheme, free: FloatArray) -> tuple[float, FloatArray]:
    """Weighted log likelihood, and (n, f) weighted scores."""
    found, r = evaluate(scheme.ratings, scheme.reduce(free)), scheme.ratings
    penalty, slope = scheme.penalty(free)
    scores = r.weights[:, None] * (found.scores @ scheme.jacobian(free) + slope / r.n)
    return float(r.weights @ found.log_likelihood) + penalty, scores


def _by_cluster(scheme: Scheme, free: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    """(g, f, f) second and (g, f) first derivatives of the log likelihood of each cluster."""

    def summed(at: FloatArray) -> FloatArray:
        scores = _scored(scheme, at)[1]
        sums = np.zeros((int(clusters.max()) + 1, len(free)))
        np.add.at(sums, clusters, scores)
        return sums

    there = summed(free)
    return _slopes(summed, free, there), there


def _slopes(scores: Callable[[FloatArray], FloatArray], at: FloatArray, there: FloatArray) -> FloatArray:
    """(…, f, f) numerical derivatives of scores (…, f), which are ``there`` at this point; symmetric."""
    moved = [(scores(at + APART * unit) - there) / APART for unit in np.eye(len(at))]
    found = np.stack(moved, axis=-1)
    symmetric: FloatArray = (found + np.swapaxes(found, -1, -2)) / 2
    return symmetric


def _ascending(steps: FloatArray) -> FloatArray:
    """A first number and then steps exp(.) upwards, so that they ascend whatever the parameters."""
    ascending: FloatArray = np.cumsum(np.concatenate([steps[..., :1], np.exp(steps[..., 1:])], axis=-1), axis=-1)
    return ascending


def _steps(ascending: FloatArray) -> FloatArray:
    steps: FloatArray = np.r_[ascending[:1], np.log(np.maximum(np.diff(ascending), 0.05))]
    return steps


def _first_cuts(codes: IntArray, q: int) -> FloatArray:
    """(q - 1,) normal quantiles of the cumulated shares, half a rating added to each category."""
    counts = np.bincount(codes, minlength=q) + 0.5
    cuts: FloatArray = scipy.special.ndtri(np.cumsum(counts)[:-1] / counts.sum())
    return cuts


def _first_slope(ratings: Ratings) -> float:
    """From the covariance of two people's categories over their variance."""
    known = ratings.people >= 0
    codes = np.where(known, ratings.people, 0) - known * ratings.people[known].mean()
    number = known.sum(axis=1)
    total, squares = (codes * known).sum(axis=1), ((codes * known) ** 2).sum(axis=1)
    pairs = (number * (number - 1)).sum()
    shared = (total**2 - squares).sum() / max(pairs, 1) / max(squares.sum() / number.sum(), 1e-9)
    reliability = float(np.clip(shared, 0.15, 0.85))
    return float(np.sqrt(reliability / (1 - reliability)))
