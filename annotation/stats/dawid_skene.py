"""The true category of each item and the errors of each rater, estimated together.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Journal of the Royal Statistical Society C 28:20-28. Each item has one true category; given it, raters answer
independently, each with a confusion matrix of their own. EM alternates between the categories that the
matrices make likely and the matrices that the categories imply.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import number_or_none
from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable

TINY = 1e-300
"""Stands for a probability of zero where its logarithm is taken."""

SAME = 1e-9
"""Posteriors this close are tied."""


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """What `dawid_skene` found.

    Attributes
    ----------
    categories
        The q categories, in scale order.
    posterior
        (n_items, q) probability of each category given all ratings; NaN for an item without ratings.
    prevalence
        (q,) estimated share of each true category.
    raters
        Names of the r raters.
    confusion
        (r, q, q) probability that a rater says the column where the row is true; NaN in rows of categories
        that no item of the rater's seems to have.
    n_ratings
        (r,) number of ratings of each rater.
    log_likelihood
        Of the ratings, by iteration; it never falls.
    converged
        Whether the last step changed the log-likelihood, per item, by less than the tolerance.
    """

    categories: tuple[Label, ...]
    posterior: FloatArray
    prevalence: FloatArray
    raters: tuple[str, ...]
    confusion: FloatArray
    n_ratings: IntArray
    log_likelihood: tuple[float, ...]
    converged: bool

    @property
    def rated(self) -> BoolArray:
        """(n_items,) which items have a posterior."""
        rated: BoolArray = np.asarray(np.isfinite(self.posterior).all(axis=1))
        return rated

    @property
    def codes(self) -> IntArray:
        """(n_items,) most probable category; -1 without ratings and where two are equally probable."""
        if not len(self.categories):
            return np.full(len(self.posterior), MISSING)
        return np.where(self.rated & ~self.tied, np.nan_to_num(self.posterior).argmax(axis=1), MISSING)

    @property
    def tied(self) -> BoolArray:
        """(n_items,) where two or more categories are equally probable."""
        best = np.nan_to_num(self.posterior).max(axis=1, initial=0.0, keepdims=True)
        leading: BoolArray = (self.posterior >= best - SAME).sum(axis=1) > 1
        return leading & self.rated

    @property
    def accuracy(self) -> FloatArray:
        """(r,) probability that a rater says the true category, over the estimated prevalence."""
        hits = np.diagonal(self.confusion, axis1=1, axis2=2)
        known = ~np.isnan(hits)
        weights = np.where(known, self.prevalence, 0.0)
        return ratio((weights * np.nan_to_num(hits)).sum(axis=1), weights.sum(axis=1))

    def to_json(self) -> dict[str, object]:
        """Prevalence, raters and convergence as JSON types; the posteriors belong to the items."""
        return {
            "categories": list(self.categories),
            "prevalence": [number_or_none(share) for share in self.prevalence.tolist()],
            "raters": [
                {
                    "rater": rater,
                    "n_ratings": int(n),
                    "accuracy": number_or_none(float(accuracy)),
                    "confusion": [[number_or_none(cell) for cell in row] for row in matrix.tolist()],
                }
                for rater, n, accuracy, matrix in zip(
                    self.raters, self.n_ratings, self.accuracy, self.confusion, strict=True
                )
            ],
            "log_likelihood": self.log_likelihood[-1] if self.log_likelihood else None,
            "iterations": len(self.log_likelihood),
            "converged": self.converged,
        }


def dawid_skene(
    table: RatingTable,
    *,
    same_rater: Sequence[str] | None = None,
    iterations: int = 1000,
    tolerance: float = 1e-10,
    smoothing: float = 0.0,
) -> DawidSkene:
    """True categories and confusion matrices by EM, starting from the shares of each item's votes.

    Parameters
    ----------
    table
        The ratings, any missing. Weights, clusters and strata play no part.
    same_rater
        Who stands behind each column, where one rater rated items more than once; by default every column is
        a rater.
    iterations, tolerance
        EM stops after this many steps, or when a step raises the log-likelihood per item by less.
    smoothing
        Added to each cell of each confusion matrix, in ratings; 0 for maximum likelihood, which with few
        ratings per rater makes matrices too sure.

    Raises
    ------
    ValueError
        If ``same_rater`` has not one name per column, or an option is out of its range.

    Notes
    -----
    The likelihood can have several maxima, and the labels of the categories are held in place only by the
    starting point: where most raters are worse than chance, so is the result.
    """
    _check(table, same_rater, iterations, smoothing)
    names = tuple(same_rater) if same_rater is not None else table.raters
    raters = tuple(dict.fromkeys(names))
    distinct = distinct_items(replace(table, weights=None, clusters=None, strata=None))
    votes = _votes(distinct.table.codes, [raters.index(name) for name in names], len(raters), table.n_categories)
    state = _fit(votes, distinct.copies.astype(float), iterations, tolerance, smoothing)
    everyone = _votes(table.codes, [raters.index(name) for name in names], len(raters), table.n_categories)
    posterior = _posterior(everyone, state.prevalence, state.confusion)[0]
    posterior[everyone.sum(axis=(1, 2)) == 0] = np.nan
    return DawidSkene(
        categories=table.categories,
        posterior=posterior,
        prevalence=state.prevalence,
        raters=raters,
        confusion=state.confusion,
        n_ratings=everyone.sum(axis=(0, 2)).astype(np.int64),
        log_likelihood=tuple(state.log_likelihood),
        converged=state.converged,
    )


def _check(table: RatingTable, same_rater: Sequence[str] | None, iterations: int, smoothing: float) -> None:
    if same_rater is not None and len(same_rater) != len(table.raters):
        raise ValueError(f"{len(same_rater)} names for {len(table.raters)} columns")
    if iterations < 1:
        raise ValueError(f"the number of iterations is {iterations}; it must be 1 or more")
    if not 0 <= smoothing < np.inf:
        raise ValueError(f"smoothing is {smoothing}; it must be a number of ratings, 0 or more")


def _votes(codes: IntArray, rater: Sequence[int], n_raters: int, q: int) -> FloatArray:
    """(n, r, q) how often each rater said each category of each item."""
    votes = np.zeros((len(codes), n_raters, q))
    for column, one in zip(codes.T, rater, strict=True):
        rated = np.flatnonzero(column != MISSING)
        votes[rated, one, column[rated]] += 1
    return votes


@dataclass(eq=False)
class _State:
    prevalence: FloatArray
    confusion: FloatArray
    log_likelihood: list[float]
    converged: bool


def _fit(votes: FloatArray, copies: FloatArray, iterations: int, tolerance: float, smoothing: float) -> _State:
    n_rated = float(copies[votes.sum(axis=(1, 2)) > 0].sum())
    posterior = ratio(votes.sum(axis=1), votes.sum(axis=(1, 2))[:, None])
    state = _State(*_matrices(votes, np.nan_to_num(posterior), copies, smoothing), [], n_rated == 0)
    while not state.converged and len(state.log_likelihood) < iterations:
        posterior, likelihood = _posterior(votes, state.prevalence, state.confusion)
        state.log_likelihood.append(float(copies @ likelihood))
        gained = np.inf if len(state.log_likelihood) < 2 else state.log_likelihood[-1] - state.log_likelihood[-2]
        state.converged = gained < tolerance * n_rated
        state.prevalence, state.confusion = _matrices(votes, posterior, copies, smoothing)
    return state


def _matrices(
    votes: FloatArray, posterior: FloatArray, copies: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """The M step: prevalence (q,) and confusion (r, q, q) from the posteriors (n, q)."""
    n, r, q = votes.shape
    weighted = np.where(votes.sum(axis=(1, 2))[:, None] > 0, posterior, 0.0) * copies[:, None]
    said = (weighted.T @ votes.reshape(n, r * q)).reshape(q, r, q).transpose(1, 0, 2) + smoothing
    return ratio(weighted.sum(axis=0), weighted.sum()), ratio(said, said.sum(axis=2, keepdims=True))


def _posterior(votes: FloatArray, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The E step: posteriors (n, q), and the log-likelihood (n,) of each item's ratings."""
    n, r, q = votes.shape
    log_confusion = np.log(np.maximum(np.nan_to_num(confusion), TINY)).transpose(0, 2, 1).reshape(r * q, q)
    joint = votes.reshape(n, r * q) @ log_confusion + np.log(np.maximum(np.nan_to_num(prevalence), TINY))
    largest = joint.max(axis=1, initial=-np.inf, keepdims=True)
    relative = np.exp(joint - np.where(np.isfinite(largest), largest, 0.0))
    total = relative.sum(axis=1, keepdims=True)
    likelihood = np.where(votes.sum(axis=(1, 2)) > 0, (largest + np.log(np.maximum(total, TINY)))[:, 0], 0.0)
    return ratio(relative, total), likelihood
