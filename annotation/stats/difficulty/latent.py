"""A latent model of ratings on a grid: its likelihood, its fit, and what it says of each item.

An item has a latent state, a node of a grid with a prior; given it, people answer independently of each other. The
likelihood is summed over the nodes (marginal maximum likelihood: Bock and Aitkin 1981, Psychometrika 46:443-459), with
weak priors that keep a person of few ratings near the others. What differs between levels of scale is the `Model`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import scipy

from annotation.stats.shares import count_df
from annotation.stats.table import MISSING, FloatArray, IntArray

FLOOR = 1e-12
"""The least probability of an answer: keeps logarithms finite."""

MOST_STEPS = 500
SETTLED = 1e-3
"""Largest derivative of the log likelihood, per square root of the items, at which a fit has converged."""

FAR = 10.0
"""No parameter lies further from 0: keeps a long first step of the search finite."""

STEP = 1e-4
"""Of numerical derivatives."""

SINGULAR = 1e-9
"""Smallest over largest second derivative below which the likelihood is flat in some direction."""


class NoConvergenceError(Exception):
    """The model could not be fitted; the message says why."""


@dataclass(frozen=True, eq=False)
class Tables:
    """A model at some parameters.

    Attributes
    ----------
    log_prior
        (N,) of the nodes.
    p
        (r, q, N) probability that a person gives a category at a node, at least `FLOOR`.
    parts
        What the model's gradient needs again.
    """

    log_prior: FloatArray
    p: FloatArray
    parts: tuple[FloatArray, ...] = ()


class Model(Protocol):
    """A family of distributions of ratings by r people in q categories over N nodes."""

    @property
    def n_people(self) -> int:
        """Number of people, r."""

    @property
    def n_categories(self) -> int:
        """Number of categories, q."""

    def finer(self) -> Self:
        """The same model over more nodes."""

    def start(self, counts: FloatArray) -> FloatArray:
        """Parameters (f,) to begin with, from the (r, q) numbers of ratings."""

    def tables(self, free: FloatArray) -> Tables:
        """The model at these parameters."""

    def gradient(self, free: FloatArray, tables: Tables, expected: FloatArray, totals: FloatArray) -> FloatArray:
        """(f,) derivatives of the expected log likelihood.

        ``expected`` (r, q, N) are expected numbers of answers by node, ``totals`` (N,) of items.
        """

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        """Logarithm of the prior of the parameters, and its derivatives."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Codes (n, r) of n kinds of items, -1 where missing, and how much each kind weighs (n,)."""

    codes: IntArray
    weights: FloatArray
    n_categories: int

    @cached_property
    def answers(self) -> scipy.sparse.csr_array:
        """(n, r q) which answers each item got."""
        rows, people = np.nonzero(self.codes != MISSING)
        columns = people * self.n_categories + self.codes[rows, people]
        shape = (len(self.codes), self.codes.shape[1] * self.n_categories)
        return scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)

    @cached_property
    def counts(self) -> FloatArray:
        """(r, q) weighted numbers of answers."""
        counts: FloatArray = (self.weights @ self.answers).reshape(-1, self.n_categories)
        return counts

    def log_joint(self, tables: Tables) -> FloatArray:
        """(n, N) log probability of an item's answers and each node."""
        found: FloatArray = tables.log_prior + self.answers @ np.log(tables.p).reshape(-1, len(tables.log_prior))
        return found


@dataclass(frozen=True, eq=False)
class LatentFit:
    """A fitted model.

    Attributes
    ----------
    free
        (f,) parameters.
    covariance
        (f, f) of them: from the second derivatives, with sums over clusters in between where there are any.
    log_likelihood
        Of the ratings, without the penalty.
    df
        Degrees of freedom of the covariance: the effective number of clusters less one; infinite without clusters.
    """

    model: Model
    ratings: Ratings
    free: FloatArray
    covariance: FloatArray
    log_likelihood: float
    df: float = np.inf

    @cached_property
    def tables(self) -> Tables:
        """The model at its parameters."""
        return self.model.tables(self.free)

    @cached_property
    def posterior(self) -> FloatArray:
        """(n, N) probability of each node given an item's ratings."""
        return _posterior(self.ratings.log_joint(self.tables))[0]

    def finer(self, codes: IntArray) -> LatentFit:
        """The same parameters over more nodes, for ratings item by item: ``codes`` (n, r)."""
        ratings = Ratings(codes, np.ones(len(codes)), self.model.n_categories)
        return replace(self, model=self.model.finer(), ratings=ratings)

    @property
    def standard_errors(self) -> FloatArray:
        """(f,) of the parameters."""
        return np.sqrt(np.diagonal(self.covariance))


WIDEST = 3.2
"""Nodes of a standard normal variable lie up to this far from 0."""
COARSE, FINE = 11, 41
"""Numbers of such nodes: for fitting, and for the probability that something lies above a cut."""


def normal_nodes(k: int) -> tuple[FloatArray, FloatArray]:
    """Equally spaced nodes (k,) of a standard normal variable and the logarithms of their probabilities."""
    nodes = np.linspace(-WIDEST, WIDEST, k)
    return nodes, scipy.special.log_softmax(-0.5 * nodes**2)


def fit(model: Model, ratings: Ratings, clusters: scipy.sparse.csr_array | None = None) -> LatentFit:
    """Maximise the penalised likelihood.

    Parameters
    ----------
    clusters
        (g, n) weight of each kind of items in each cluster; None where items are independent.

    Raises
    ------
    NoConvergenceError
        If the likelihood does not settle, or is flat in some direction.
    """
    start = model.start(ratings.counts)
    found = scipy.optimize.minimize(
        lambda free: _minus(model, ratings, free),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-FAR, FAR)] * len(start),
        options={"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 1e-12, "gtol": 1e-6},
    )
    free = np.asarray(found.x, dtype=float)
    value, gradient = _minus(model, ratings, free)
    if not np.isfinite(value) or np.abs(gradient).max() > SETTLED * np.sqrt(max(ratings.weights.sum(), 1.0)):
        raise NoConvergenceError(f"the likelihood did not settle in {found.nit} steps")
    df = np.inf if clusters is None else count_df(clusters.sum(axis=1))
    covariance = _covariance(model, ratings, free, clusters)
    return LatentFit(model, ratings, free, covariance, -value - model.penalty(free)[0], df)


def item_log_likelihood(model: Model, ratings: Ratings, free: FloatArray) -> FloatArray:
    """(n,) log probability of the ratings of each kind of item."""
    return _posterior(ratings.log_joint(model.tables(free)))[1]


def _minus(model: Model, ratings: Ratings, free: FloatArray) -> tuple[float, FloatArray]:
    """Minus the penalised log likelihood, and its derivatives (Louis 1982, JRSS B 44:226-233)."""
    tables = model.tables(free)
    posterior, each = _posterior(ratings.log_joint(tables))
    weighted = ratings.weights[:, None] * posterior
    expected = (ratings.answers.T @ weighted).reshape(tables.p.shape)
    value, slope = model.penalty(free)
    gradient = model.gradient(free, tables, expected, weighted.sum(axis=0)) + slope
    return -float(ratings.weights @ each) - value, -gradient


def _posterior(log_joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    top = log_joint.max(axis=1)
    posterior = np.exp(log_joint - top[:, None])
    total = posterior.sum(axis=1)
    return posterior / total[:, None], top + np.log(total)


def _covariance(
    model: Model, ratings: Ratings, free: FloatArray, clusters: scipy.sparse.csr_array | None
) -> FloatArray:
    """Inverse second derivatives; with clusters the sandwich of sums of scores between them."""
    steps = STEP * np.eye(len(free))
    here = _minus(model, ratings, free)[1]
    hessian = np.array([_minus(model, ratings, free + step)[1] - here for step in steps])
    hessian = (hessian + hessian.T) / (2 * STEP)
    values = np.linalg.eigvalsh(hessian)
    if values[0] < SINGULAR * values[-1]:
        raise NoConvergenceError("the ratings do not tell all parameters apart")
    inverse: FloatArray = np.linalg.inv(hessian)
    if clusters is None:
        return inverse
    sums = clusters @ np.column_stack([_slope(model, ratings, free, step) for step in steps])
    g, centred = len(sums), sums - sums.mean(axis=0)
    sandwich: FloatArray = inverse @ (g / max(g - 1, 1) * centred.T @ centred) @ inverse
    return sandwich


def _slope(model: Model, ratings: Ratings, free: FloatArray, step: FloatArray) -> FloatArray:
    """(n,) derivative of each item's log likelihood in the direction of a step of length `STEP`."""
    ahead, behind = (item_log_likelihood(model, ratings, free + sign * step) for sign in (1, -1))
    return (ahead - behind) / (2 * STEP)


def blocks(free: FloatArray, sizes: Sequence[int]) -> list[FloatArray]:
    """The parameters in consecutive parts of these sizes."""
    return np.split(free, np.cumsum(sizes)[:-1])
