"""Standard errors by formula, as a cross-check of the bootstrap.

References
----------
Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72:323-327 (kappa of two raters, any weights).
Fleiss, Nee and Landis (1979), Psychological Bulletin 86:974-977 (Fleiss' kappa where raters answer by chance).
Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapter 5 (coefficients of many raters, by
linearisation). Shrout and Fleiss (1979), Psychological Bulletin 86:420-428 (ICC).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis
from annotation.stats.jackknife import influence_variance
from annotation.stats.resampling import Resampling, SumStatistic
from annotation.stats.table import FloatArray, IntArray, RatingTable

STEP = 1e-4
"""Relative step of the numerical derivative; central differences of it are good to about 1e-8."""

NO_ERROR_BELOW = 1e-9
"""Standard errors up to this are the rounding of numerical derivatives."""

NO_ERROR = "no interval: by the formula its error is 0"


@dataclass(frozen=True)
class CohenError:
    """Kappa of a cross table with its asymptotic standard errors.

    Attributes
    ----------
    kappa
        Weighted kappa.
    se
        Its standard error.
    se_chance
        Its standard error where the raters are independent, for a test of kappa = 0.
    """

    kappa: float
    se: float
    se_chance: float


def cohen_error(crosstab: FloatArray, weights: FloatArray) -> CohenError:
    """Standard errors of Cohen's kappa after Fleiss, Cohen and Everitt (1969).

    Parameters
    ----------
    crosstab
        (q, q) counts of items, rows the first rater's category, columns the second's.
    weights
        (q, q) agreement weights.

    Returns
    -------
    CohenError
        NaN where the table is empty or both raters always used one category.
    """
    kappa, se, se_chance = cohen_errors(np.asarray(crosstab, dtype=float)[None], weights)
    return CohenError(float(kappa[0]), float(se[0]), float(se_chance[0]))


def cohen_errors(crosstabs: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Kappa, standard error and standard error under chance, (P,) each, of P cross tables (P, q, q)."""
    n = crosstabs.sum(axis=(1, 2))
    shares = ratio(crosstabs, n[:, None, None])
    rows, columns = shares.sum(axis=2), shares.sum(axis=1)
    of_row, of_column = columns @ weights.T, rows @ weights  # mean weight of a row's, a column's category
    either = of_row[:, :, None] + of_column[:, None, :]
    by_chance = rows[:, :, None] * columns[:, None, :]
    observed = (shares * weights).sum(axis=(1, 2))
    expected = (by_chance * weights).sum(axis=(1, 2))
    kappa = ratio(observed - expected, 1 - expected)
    short = (1 - kappa)[:, None, None]
    spread = (shares * (weights - either * short) ** 2).sum(axis=(1, 2))
    variance = ratio(spread - (kappa - expected * (1 - kappa)) ** 2, n * (1 - expected) ** 2)
    chance_spread = (by_chance * (weights - either) ** 2).sum(axis=(1, 2)) - expected**2
    chance_variance = ratio(chance_spread, n * (1 - expected) ** 2)
    return kappa, _root(variance), _root(chance_variance)


def compute_crosstabs(codes: IntArray, copies: IntArray, pairs: Sequence[tuple[int, int]], q: int) -> FloatArray:
    """(P, q, q) cross tables of pairs of columns of ``codes``, row i of which stands for copies[i] items."""
    tables = np.zeros((len(pairs), q, q))
    for table, (a, b) in zip(tables, pairs, strict=True):
        both = (codes[:, a] >= 0) & (codes[:, b] >= 0)
        cell = codes[both, a] * q + codes[both, b]
        table[:] = np.bincount(cell, copies[both], minlength=q * q).reshape(q, q)
    return tables


@dataclass(frozen=True, eq=False)
class FleissChanceTest:
    """Fleiss' kappa against chance: under it, kappa over its standard error is about standard normal.

    Attributes
    ----------
    se
        Standard error of kappa where raters answer by chance.
    z
        Kappa over it.
    """

    se: float
    z: float


def fleiss_chance_test(counts: FloatArray) -> FleissChanceTest:
    """Test of Fleiss' kappa after Fleiss, Nee and Landis (1979).

    Parameters
    ----------
    counts
        (n_items, q) number of raters per item and category, the same number of raters for every item.

    Raises
    ------
    ValueError
        If items have unequal numbers of ratings or fewer than two: the formula is not made for them.
    """
    table = np.asarray(counts, dtype=float)
    size = np.unique(table.sum(axis=1))
    if len(size) != 1 or size[0] < 2:
        raise ValueError("the test needs the same number of ratings, two or more, of every item")
    n, m = len(table), float(size[0])
    p = table.mean(axis=0) / m
    pairs = p * (1 - p)
    within = ((table * (table - 1)).sum(axis=1) / (m * (m - 1))).mean()
    kappa = ratio(within - (p**2).sum(), 1 - (p**2).sum())
    spread = pairs.sum() ** 2 - (pairs * (1 - 2 * p)).sum()
    se = np.sqrt(2 / (n * m * (m - 1)) * ratio(spread, pairs.sum() ** 2))
    return FleissChanceTest(float(se), float(ratio(kappa, se)))


def compute_linearised_errors(statistic: SumStatistic, resampling: Resampling) -> FloatArray:
    """Standard errors (m,) of a function of sums by linearisation: the derivative with respect to each item.

    For the coefficients of `chance_corrected` this is Gwet's (2014) variance, for Cohen's kappa that of
    Fleiss, Cohen and Everitt times n / (n - 1); clusters and strata are respected.
    """
    rows = resampling.sum_by_unit(statistic.contributions)
    total = resampling.times @ rows
    ahead, behind = statistic.function(total + STEP * rows), statistic.function(total - STEP * rows)
    slope = (ahead - behind) / (2 * STEP)
    return np.sqrt(influence_variance(resampling.centre(slope), resampling))


def analytic_estimate(
    value: float, se: float, basis: Basis, *, confidence: float, reason: str | None, n_units: int | None = None
) -> Estimate:
    """A figure with the interval value -+ quantile * se, cut at -1 and 1.

    The quantile is that of Student's t with ``n_units`` - 1 degrees of freedom, normal without ``n_units``.
    """
    tail = (1 + confidence) / 2
    quantile = float(scipy.special.ndtri(tail)) if n_units is None else float(scipy.special.stdtrit(n_units - 1, tail))
    flat = bool(np.isfinite(value) and se <= NO_ERROR_BELOW)
    known = bool(np.isfinite(value) and np.isfinite(se)) and not flat
    return Estimate(
        value=value,
        low=max(value - quantile * se, -1.0) if known else np.nan,
        high=min(value + quantile * se, 1.0) if known else np.nan,
        reason=None if known else NO_ERROR if flat else reason or "undefined for these ratings",
        n_items=basis.n_items,
        n_raters=basis.n_raters,
        n_ratings=basis.n_ratings,
        confidence=confidence,
        method="analytic" if known else "none",
        seed=None,
        se=se if known else np.nan,
    )


def simple_sampling(table: RatingTable) -> bool:
    """Whether items were drawn one by one with equal weight, as the formulas assume."""
    return table.clusters is None and table.strata is None and table.weights is None


def _root(variance: FloatArray) -> FloatArray:
    """Square root; a variance that rounding made slightly negative is 0."""
    return np.sqrt(np.maximum(variance, 0.0))
