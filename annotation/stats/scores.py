"""How close one rater's codes come to what a group says of the same item: to its mean score, to its majority.

Each statistic here takes a judge's codes, or an annotator's, so that what is asked of the judge can be asked
of the people too.
"""

from functools import partial

import numpy as np

from annotation.stats.arrays import ratio, sum_by_group
from annotation.stats.resampling import GroupStatistic, SumStatistic
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray

RELATIVE = 1e-12
"""A variance this small beside the squares it is the difference of is rounding."""


def build_masked_means(values: FloatArray) -> SumStatistic:
    """The mean of each column of ``values`` (n_items, m) over the items where it is not NaN.

    NaN where a column has no number. Shares are means of zeros and ones.
    """
    m = values.shape[1]
    known = np.isfinite(values).astype(float)
    summed = np.where(known > 0, values, 0.0)
    return SumStatistic(
        np.hstack([summed, known]),
        lambda sums: ratio(sums[..., :m], sums[..., m:]),
        counted=lambda sums: sums[..., m:],
    )


def macro_scores(said: IntArray, truth: IntArray, n_categories: int) -> SumStatistic:
    """Macro-averaged precision, recall and F1 of codes ``said`` (n_items,) against ``truth`` (n_items,).

    Items where either is -1 take no part. A category's precision is undefined where it is never said, its
    recall where it is never true, its F1 where it is neither; the macro average is over the categories
    where the figure is defined, all of the same weight. F1 is 2 TP / (said + true), so that it is 0, and not
    undefined, for a category that is said or true but never both.
    """
    both = ((said != MISSING) & (truth != MISSING))[:, None]
    said_k = (said[:, None] == np.arange(n_categories)) & both
    true_k = (truth[:, None] == np.arange(n_categories)) & both
    columns = np.hstack([said_k & true_k, said_k, true_k])
    return SumStatistic(columns.astype(float), partial(_macro, q=n_categories))


def _macro(sums: FloatArray, *, q: int) -> FloatArray:
    """(…, 3) macro averages from hits, said and true (…, 3 q)."""
    hits, said, true = sums[..., :q], sums[..., q : 2 * q], sums[..., 2 * q :]
    parts = [ratio(hits, said), ratio(hits, true), ratio(2 * hits, said + true)]
    return np.stack([_mean_of_defined(part) for part in parts], axis=-1)


def _mean_of_defined(values: FloatArray) -> FloatArray:
    """(…,) mean over the last axis of what is not NaN."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float))


def pearson(x: FloatArray, y: FloatArray) -> SumStatistic:
    """Pearson's correlation of two columns (n_items,) over the items where both are numbers; -1 to 1.

    NaN where either column has a single value.
    """
    both = np.isfinite(x) & np.isfinite(y)
    u, v = _standardised(x, both), _standardised(y, both)
    columns = np.column_stack([both, u, v, u * u, v * v, u * v])
    return SumStatistic(columns.astype(float), _pearson)


def _standardised(x: FloatArray, used: BoolArray) -> FloatArray:
    """Centred and scaled to at most 1 where ``used``, 0 elsewhere: products keep their digits."""
    if not used.any():
        return np.zeros(len(x))
    low, high = x[used].min(), x[used].max()
    half = (high - low) / 2 or 1.0
    return np.where(used, (np.where(used, x, low) - low) / half - 1, 0.0)


def _pearson(sums: FloatArray) -> FloatArray:
    """(…, 1) correlation from sums (…, 6): n, x, y, x^2, y^2, xy."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(_without_rounding(n * xx - x**2, n * xx) * _without_rounding(n * yy - y**2, n * yy))
    return ratio(n * xy - x * y, spread)[..., None]


def _without_rounding(difference: FloatArray, size: FloatArray) -> FloatArray:
    """A difference of two numbers of the given size, 0 where it is no more than their rounding."""
    return np.where(difference > RELATIVE * size, difference, 0.0)


def spearman(x: FloatArray, y: FloatArray) -> GroupStatistic:
    """Spearman's rank correlation of two columns (n_items,), over the items where both are numbers.

    Ties take the mean of their ranks. -1 to 1; NaN where either column has a single value. An item of weight
    w stands for w items of the same values, so that resampling ranks afresh in every replicate. Items with
    the same two values are one group; their total weights say everything that ranks depend on.
    """
    group, places, sizes = _points(x, y)
    return GroupStatistic(group, places.shape[1], partial(_rank_correlation, places=places, sizes=sizes))


def rank_correlations(x: FloatArray, y: FloatArray) -> GroupStatistic:
    """Spearman's correlation and Kendall's tau-b as one statistic with two values.

    Tau-b: of all pairs of items where both are numbers, (concordant - discordant) / sqrt(pairs not tied in x * pairs
    not tied in y). -1 to 1; NaN where either column has a single value. Kendall (1945), Biometrika 33:239-251.
    """
    group, places, sizes = _points(x, y)
    functions = [partial(function, places=places, sizes=sizes) for function in (_rank_correlation, _tau_b)]
    return GroupStatistic(
        group, places.shape[1], lambda totals: np.concatenate([function(totals) for function in functions], axis=-1)
    )


def _points(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray, tuple[int, int]]:
    """Distinct points: group of each item (-1 without numbers), places (2, k) of the k points in the order of
    the distinct values of x and of y, and how many of those there are.
    """
    both = np.isfinite(x) & np.isfinite(y)
    values = np.column_stack([x[both], y[both]]).round(12)
    points, index = np.unique(values, axis=0, return_inverse=True)
    group = np.full(len(x), -1, dtype=np.int64)
    group[both] = index.ravel()
    columns = [np.unique(column, return_inverse=True) for column in points.T]
    places = np.array([place for _, place in columns], dtype=np.int64).reshape(2, len(points))
    return group, places, (len(columns[0][0]), len(columns[1][0]))


def _rank_correlation(totals: FloatArray, *, places: IntArray, sizes: tuple[int, int]) -> FloatArray:
    """(…, 1) correlation of the mid-ranks of k points with the given total weights (…, k)."""
    n = totals.sum(axis=-1, keepdims=True)
    x, y = (_mid_ranks(totals, place, size) for place, size in zip(places, sizes, strict=True))
    covariance = ratio((totals * x * y).sum(axis=-1, keepdims=True), n)
    x_variance = ratio((totals * x * x).sum(axis=-1, keepdims=True), n)
    y_variance = ratio((totals * y * y).sum(axis=-1, keepdims=True), n)
    return ratio(covariance, np.sqrt(x_variance * y_variance))


def _mid_ranks(totals: FloatArray, place: IntArray, n_values: int) -> FloatArray:
    """(…, k) mid-rank of each point's value as a share of the total weight, minus the mean rank 1/2.

    ``place`` (k,) is the position of the point's value among the ``n_values`` distinct ones.
    """
    sizes = sum_by_group(totals, place, n_values)
    middle = ratio(np.cumsum(sizes, axis=-1) - sizes / 2, totals.sum(axis=-1, keepdims=True))
    centred: FloatArray = middle[..., place] - 0.5
    return centred


def _tau_b(totals: FloatArray, *, places: IntArray, sizes: tuple[int, int]) -> FloatArray:
    """(…, 1) tau-b of k points with the given total weights (…, k)."""
    if not sizes[0]:
        return np.full((*totals.shape[:-1], 1), np.nan)
    grid = np.zeros((*totals.shape[:-1], *sizes))
    grid[..., places[0], places[1]] = totals
    below = np.cumsum(grid, axis=-2) - grid  # of the same y, at smaller x
    to_the_left = np.cumsum(below, axis=-1) - below
    to_the_right = below.sum(axis=-1, keepdims=True) - to_the_left - below
    balance = (grid * (to_the_left - to_the_right)).sum(axis=(-1, -2))
    n = totals.sum(axis=-1)
    x_untied = (n**2 - (grid.sum(axis=-1) ** 2).sum(axis=-1)) / 2
    y_untied = (n**2 - (grid.sum(axis=-2) ** 2).sum(axis=-1)) / 2
    untied = _without_rounding(x_untied, n**2) * _without_rounding(y_untied, n**2)
    return ratio(balance, np.sqrt(untied))[..., None]
