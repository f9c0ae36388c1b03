"""Numbers, such as sliders give: items and people add up, and every item has a noise of its own.

y_ij = u_i + b_j + e_ij; u is normal with variance t^2, e with s^2 k_j v_i. t, s and the people's means b come from
restricted maximum likelihood (Patterson and Thompson 1971, Biometrika 58:545-554), k from expected squares of e with a
prior of mean 1, v has an inverse gamma prior that all items fit together (Smyth 2004, Statistical Applications in
Genetics and Molecular Biology 3:3). Two fresh people agree by 1 - E|y - y'| / (length of the scale).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from annotation.stats.bands import Cuts
from annotation.stats.difficulty.described import Described, describe_posterior
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.people import PersonFit, build_undefined, estimates
from annotation.stats.shares import count_df
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable

PRIOR_RATINGS = 4.0
"""What the prior of a person's k weighs, in ratings."""

EQUALLY_NOISY, NOISE_SD = np.log(8.0), 1.0
"""Prior of the logarithm of the degrees of freedom of v."""

WIDEST, STEP = 6.0, 0.05
"""Nodes of log v."""

MOST_ROUNDS, SETTLED = 200, 1e-3
RATIOS = (-12.0, 8.0)
"""Bounds of log(t^2 / s^2)."""

LEAST_RATIO = 1e-4
"""Of t^2 to s^2, below which items do not differ and severities have no unit."""

BY_CONSTANTS = 1e-6
"""Mean square within items, over s^2, below which people differ by constants alone."""

MOST_ANSWERS = 1001
"""Values of the scale beyond which answers are not spelled out."""


@dataclass(frozen=True, eq=False)
class Mixed:
    """A fitted linear mixed model of (n, r) numbers.

    Attributes
    ----------
    y, weights
        (n, r) ratings, NaN where missing; (n,) of items, with mean 1.
    ratio
        t^2 / s^2.
    variance
        s^2.
    means
        (r,) b.
    spread
        (r,) k, their logarithms with mean 0.
    """

    y: FloatArray
    weights: FloatArray
    ratio: float
    variance: float
    means: FloatArray
    spread: FloatArray

    @cached_property
    def precision(self) -> FloatArray:
        """(n, r) 1 / k_j where a person rated an item, 0 elsewhere."""
        return _precision(self.y, self.spread)

    @cached_property
    def residuals(self) -> FloatArray:
        """(n, r) y - b, 0 where missing."""
        return np.nan_to_num(self.y - self.means)

    @cached_property
    def items(self) -> tuple[FloatArray, FloatArray]:
        """(n,) expected u given the ratings, and their variances."""
        total: FloatArray = 1 + self.ratio * self.precision.sum(axis=1)
        middle = self.ratio * (self.precision * self.residuals).sum(axis=1) / total
        return middle, self.variance * self.ratio / total

    @cached_property
    def squares(self) -> tuple[FloatArray, FloatArray]:
        """(n,) sums of squares within items over s^2 k, and their degrees of freedom."""
        w, e = self.precision, self.residuals
        within = (w * e**2).sum(axis=1) - (w * e).sum(axis=1) ** 2 / np.maximum(w.sum(axis=1), 1e-12)
        return np.maximum(within, 0.0) / self.variance, np.maximum((w > 0).sum(axis=1) - 1.0, 0.0)

    def covariance(self, clusters: IntArray | None = None) -> FloatArray:
        """(r, r) of the means; with a number of its cluster for each item the sandwich of sums between clusters."""
        w = self.precision
        c = self.ratio / (1 + self.ratio * w.sum(axis=1))
        inverse = np.asarray(self.variance * np.linalg.inv(_information(w, c, self.weights)), dtype=float)
        if clusters is None:
            return inverse
        e = self.residuals
        scores = self.weights[:, None] * w * (e - (c * (w * e).sum(axis=1))[:, None]) / self.variance
        sums = np.array([np.bincount(clusters, column) for column in scores.T]).T
        g = len(sums)
        centred = sums - sums.mean(axis=0)
        return np.asarray(inverse @ (g / max(g - 1, 1) * centred.T @ centred) @ inverse)


def fit_mixed(y: FloatArray, weights: FloatArray, *, own_spread: bool = True) -> Mixed:
    """Fit numbers (n, r), NaN where missing, of items that weigh ``weights`` (n,).

    Without ``own_spread`` all people are equally consistent, and the fit is that of a linear mixed model with people
    as fixed and items as random effects.

    Raises
    ------
    NoConvergenceError
        If consistencies do not settle.
    """
    spread = np.ones(y.shape[1])
    for _ in range(MOST_ROUNDS):
        found = _restricted(y, weights, spread)
        if not own_spread:
            return found
        new = _spreads(found)
        if np.abs(np.log(new / spread)).max() < SETTLED:
            return found
        spread = new
    raise NoConvergenceError(f"consistencies of people did not settle in {MOST_ROUNDS} rounds")


def _precision(y: FloatArray, spread: FloatArray) -> FloatArray:
    return np.where(np.isnan(y), 0.0, 1 / spread)


def _information(w: FloatArray, c: FloatArray, weights: FloatArray) -> FloatArray:
    """(r, r) X' V^-1 X times s^2."""
    return np.asarray(np.diag(weights @ w) - (w * (weights * c)[:, None]).T @ w)


def _restricted(y: FloatArray, weights: FloatArray, spread: FloatArray) -> Mixed:
    """By restricted maximum likelihood, given k."""
    w, known = _precision(y, spread), np.nan_to_num(y)
    total, dot = w.sum(axis=1), (w * known).sum(axis=1)
    n_free = float(weights @ (w > 0).sum(axis=1)) - y.shape[1]
    square = float(weights @ (w * known**2).sum(axis=1))

    def solved(log_ratio: float) -> tuple[float, float, FloatArray]:
        ratio = np.exp(log_ratio)
        c = ratio / (1 + ratio * total)
        information = _information(w, c, weights)
        right = (weights[:, None] * w * (known - (c * dot)[:, None])).sum(axis=0)
        means = np.linalg.solve(information, right)
        rest = max(square - float(weights @ (c * dot**2)) - float(right @ means), 1e-300)
        deviance = n_free * np.log(rest) + float(weights @ np.log1p(ratio * total)) + np.linalg.slogdet(information)[1]
        return deviance, rest / n_free, means

    best = scipy.optimize.minimize_scalar(
        lambda at: solved(at)[0], bounds=RATIOS, method="bounded", options={"xatol": 1e-6}
    )
    _, variance, means = solved(best.x)
    return Mixed(y, weights, float(np.exp(best.x)), variance, means, spread)


def _spreads(found: Mixed) -> FloatArray:
    """(r,) k from the expected squares of e, the means taken as known but for one degree of freedom."""
    middle, error = found.items
    rated = (found.precision > 0) * found.weights[:, None]
    squares = (rated * ((found.residuals - middle[:, None]) ** 2 + error[:, None])).sum(axis=0) / found.variance
    spread = (squares + PRIOR_RATINGS) / (np.maximum(rated.sum(axis=0) - 1, 0) + PRIOR_RATINGS)
    return np.asarray(spread / np.exp(np.log(spread).mean()))


def prior_of_noise(squares: FloatArray, freedom: FloatArray, weights: FloatArray, least: float) -> tuple[float, float]:
    """Degrees of freedom and scale of the inverse gamma distribution of v, by maximum likelihood.

    ``least`` is the mean square that rounding alone makes.
    """
    told = freedom > 0
    d, mean_square = freedom[told], np.maximum(squares[told] / freedom[told], least)

    def minus(at: FloatArray) -> float:
        each = scipy.stats.f.logpdf(mean_square * np.exp(-at[1]), d, np.exp(at[0])) - at[1]
        return -float(weights[told] @ each) + 0.5 * float((at[0] - EQUALLY_NOISY) / NOISE_SD) ** 2

    start = np.array([EQUALLY_NOISY, np.log(np.median(mean_square))])
    found = scipy.optimize.minimize(minus, start, method="L-BFGS-B", bounds=[(np.log(2.1), 8.0), (-20.0, 20.0)])
    return float(np.exp(found.x[0])), float(np.exp(found.x[1]))


@dataclass(frozen=True, eq=False)
class NumbersComponent:
    """The fit of a table of numbers."""

    table: RatingTable
    fit: Mixed
    method: str = "linear mixed model"
    thresholds: tuple[float, ...] = ()

    @classmethod
    def from_table(cls, table: RatingTable) -> "NumbersComponent":
        """Raises NoConvergenceError."""
        weights = np.ones(table.n_items) if table.weights is None else table.weights / table.weights.mean()
        found = cls(table, fit_mixed(table.rated_scores, weights))
        squares, freedom = found.fit.squares
        if squares.sum() < BY_CONSTANTS * freedom.sum():
            raise NoConvergenceError("people differ by constants alone")
        return found

    @cached_property
    def length(self) -> float:
        """Of the scale."""
        return float(np.ptp(self.table.scores))

    @cached_property
    def least(self) -> float:
        """The mean square, over s^2, that rounding to the scale's steps makes."""
        return float(np.diff(np.sort(self.table.scores)).min() ** 2 / 12 / self.fit.variance)

    @cached_property
    def share(self) -> FloatArray:
        """(r,) of the ratings."""
        return np.asarray((self.table.codes != MISSING).sum(axis=0) / self.table.n_ratings)

    def describe(self, cuts: Cuts) -> Described:
        """Its items."""
        squares, freedom = self.fit.squares
        d, scale = prior_of_noise(squares, freedom, self.fit.weights, self.least)
        nodes = np.log(scale) + np.arange(-WIDEST, WIDEST + STEP / 2, STEP)
        a, b = (d + freedom) / 2, (d * scale + squares) / 2
        log_density = -a[:, None] * nodes - b[:, None] * np.exp(-nodes)
        posterior = scipy.special.softmax(log_density, axis=1)
        agreement = np.array([self.agreement(v) for v in np.exp(nodes).tolist()])
        nobody = np.empty((0, len(nodes)))
        found = describe_posterior(posterior, agreement, nobody, nobody, cuts)
        fit, share = self.fit, self.share
        apart = float(share @ (fit.means - share @ fit.means) ** 2)
        noise = fit.variance * (posterior @ np.exp(nodes)) * float(share @ fit.spread)
        error = fit.items[1]
        return replace(found, answers=self._cut(error + apart + noise), consensus=self._cut(error))

    def agreement(self, noise: float) -> float:
        """How far two fresh people agree on an item of this v: by the mean of folded normal distributions."""
        fit = self.fit
        sd = np.sqrt(fit.variance * noise * np.add.outer(fit.spread, fit.spread))
        z = np.subtract.outer(fit.means, fit.means) / sd
        apart = sd * (np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + z * (2 * scipy.special.ndtr(z) - 1))
        return max(1 - float(self.share @ apart @ self.share) / self.length, 0.0)

    def _cut(self, variance: FloatArray) -> FloatArray:
        """(n, q) normal distributions about what is expected of each item, cut between the values."""
        if self.table.n_categories > MOST_ANSWERS:
            return np.empty((self.table.n_items, 0))
        middle = self.fit.items[0] + float(self.share @ self.fit.means)
        order = np.argsort(self.table.scores)
        ordered = self.table.scores[order]
        ends = (ordered[1:] + ordered[:-1]) / 2
        below = scipy.special.ndtr((ends - middle[:, None]) / np.sqrt(variance)[:, None])
        return np.asarray(np.diff(below, axis=1, prepend=0.0, append=1.0)[:, np.argsort(order)])

    @property
    def people(self) -> list[PersonFit]:
        """Each person of the group."""
        fit, table = self.fit, self.table
        numbers = (table.codes != MISSING).sum(axis=0).tolist()
        contrast = np.eye(len(numbers)) - 1 / len(numbers)
        clusters = None if table.clusters is None else np.unique(np.array(table.clusters, str), return_inverse=True)[1]
        errors = np.sqrt(np.diagonal(contrast @ fit.covariance(clusters) @ contrast.T))
        unit = np.sqrt(fit.ratio * fit.variance)
        df = np.inf if clusters is None else count_df(np.bincount(clusters, fit.weights))
        severity = estimates(-(contrast @ fit.means) / unit, errors / unit, numbers, df=df)
        if fit.ratio < LEAST_RATIO:
            severity = build_undefined("the items do not differ, so that severity has no unit", numbers)
        error = 1 / np.sqrt(2 * (np.maximum(np.array(numbers) - 1, 0) + PRIOR_RATINGS))
        consistency = estimates(-np.log(fit.spread) / 2, error, numbers, np.exp)
        order = build_undefined("only of a preference is the order of two responses known", numbers)
        infit, outfit = self._mean_squares()
        parts = zip(table.raters, numbers, severity, consistency, order, infit, outfit, strict=True)
        return [PersonFit(*part) for part in parts]

    def _mean_squares(self) -> tuple[list[float], list[float]]:
        """Infit and outfit of each person, each rating against what the item's other ratings let expect."""
        fit, w = self.fit, self.fit.precision
        others = 1 + fit.ratio * (w.sum(axis=1)[:, None] - w)
        expected = fit.ratio * ((w * fit.residuals).sum(axis=1)[:, None] - w * fit.residuals) / others
        variance = fit.variance * (fit.ratio / others + fit.spread)
        used = (w > 0) & ((w > 0).sum(axis=1) > 1)[:, None]
        square = np.where(used, (fit.residuals - expected) ** 2, 0.0)
        with np.errstate(invalid="ignore"):
            infit = square.sum(axis=0) / np.where(used, variance, 0.0).sum(axis=0)
            outfit = (square / variance).sum(axis=0) / used.sum(axis=0)
        return infit.tolist(), outfit.tolist()
