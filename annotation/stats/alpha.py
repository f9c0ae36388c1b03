"""Krippendorff's alpha for nominal, ordinal, interval and ratio scales, for rankings and sets, with missing ratings.

Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", University of Pennsylvania. Alpha is
1 - D_o / D_e: the disagreement within items over the disagreement of all pairable ratings paired at random,
each pair weighing the squared difference of its two categories. On alpha of sets by MASI or Jaccard's distance:
Passonneau (2006), LREC; Artstein and Poesio (2008), Computational Linguistics 34:555-596.
"""

from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import pairs_agreeing
from annotation.stats.resampling import SumStatistic, scale_to_effective
from annotation.stats.table import FloatArray, RatingTable
from annotation.stats.weighting import Weighting, compute_weights, default_weighting


def krippendorff_alpha(
    table: RatingTable, *, difference: FloatArray | None = None, item_weights: FloatArray | None = None
) -> SumStatistic:
    """Alpha at the table's level, as a statistic with one value; or with a ``difference`` (q, q) of one's own.

    Only items with at least two ratings take part. On an ordinal scale the difference of two categories
    depends on how often those between them were used, so the coincidences themselves are summed; otherwise
    the difference is fixed and an item's disagreement is one number. With ``item_weights`` (n_items,), those of all
    sums, the number of ratings is the effective one (`scale_to_effective`).
    """
    counts = np.where(table.pairable[:, None], table.counts, 0.0)
    others = np.maximum(table.ratings_per_item - 1, 1)[:, None]
    if table.level == "ordinal" and difference is None:
        first, second = np.triu_indices(table.n_categories, 1)
        coincidences = counts[:, first] * counts[:, second] / others
        statistic = SumStatistic(np.hstack([counts, coincidences]), partial(_ordinal_alpha, q=table.n_categories))
    else:
        apart = compute_squared_differences(table) if difference is None else difference
        disagreement = (counts * (counts @ apart)).sum(axis=1, keepdims=True) / others
        statistic = SumStatistic(np.hstack([counts, disagreement]), partial(_fixed_alpha, difference=apart))
    return scale_to_effective(statistic, counts.sum(axis=1), item_weights)


def compute_squared_differences(table: RatingTable) -> FloatArray:
    """(q, q) squared difference of each two categories at any level but the ordinal one.

    Nominal: 0 or 1. Interval: (x - y)^2, ratio: ((x - y) / (x + y))^2, both scaled to at most 1, which
    leaves alpha as it is and lets one tolerance serve every scale. Rankings: 1 less their Kemeny weights, so that alpha
    is that of the preferences which they imply, each pair of responses with shares of its own. Sets: their MASI
    distance as it is (Passonneau 2006), not squared.
    """
    if not table.has_scores:
        return 1 - compute_weights(table, default_weighting(table))
    x, y = table.scores[:, None], table.scores[None, :]
    size = np.where(x + y > 0, x + y, 1.0) if table.level == "ratio" else 1.0
    apart = np.abs(x - y) / size
    exponent = int(np.frexp(apart.max(initial=0.0))[1])  # squares of tiny numbers would vanish
    difference = np.ldexp(apart, -exponent) ** 2
    widest = difference.max(initial=0.0)
    return difference / widest if widest > 0 else difference


def set_agreement(table: RatingTable, item_weights: FloatArray | None = None) -> SumStatistic:
    """Mean MASI and mean Jaccard of an item's pairs of answers, and alpha by Jaccard's distance; three values.

    ``item_weights`` as of `krippendorff_alpha`.
    """
    difference = 1 - compute_weights(table, "jaccard")
    alpha = krippendorff_alpha(table, difference=difference, item_weights=item_weights)
    means = [np.nan_to_num(_item_means(table, name)) for name in ("masi", "jaccard")]
    own = np.column_stack([table.pairable, *means]).astype(float)

    def values(sums: FloatArray) -> FloatArray:
        return np.concatenate([ratio(sums[..., 1:3], sums[..., :1]), alpha.function(sums[..., 3:])], axis=-1)

    def counted(sums: FloatArray) -> FloatArray:
        return np.where(np.arange(3) < 2, sums[..., :1], np.nan)

    return SumStatistic(np.hstack([own, alpha.contributions]), values, counted)


def _item_means(table: RatingTable, weighting: Weighting) -> FloatArray:
    """(n_items,) mean weight of the pairs of answers on each item; NaN below two."""
    size = table.ratings_per_item
    return ratio(pairs_agreeing(table.counts, compute_weights(table, weighting)), size * (size - 1))


def _fixed_alpha(sums: FloatArray, *, difference: FloatArray) -> FloatArray:
    """(…, 1) alpha from category totals and disagreement (…, q + 1)."""
    totals, observed = sums[..., :-1], sums[..., -1]
    expected = (totals * (totals @ difference)).sum(axis=-1)
    return _alpha(observed, expected, totals.sum(axis=-1))


def _ordinal_alpha(sums: FloatArray, *, q: int) -> FloatArray:
    """(…, 1) alpha from category totals and coincidences of each two categories (…, q + q (q - 1) / 2).

    The difference of two categories is the number of ratings between their middles.
    """
    totals, coincidences = sums[..., :q], sums[..., q:]
    n = totals.sum(axis=-1)
    middle = ratio(np.cumsum(totals, axis=-1) - totals / 2, n[..., None])
    first, second = np.triu_indices(q, 1)
    difference = (middle[..., first] - middle[..., second]) ** 2
    observed = 2 * (coincidences * difference).sum(axis=-1)
    expected = 2 * (totals[..., first] * totals[..., second] * difference).sum(axis=-1)
    return _alpha(observed, expected, n)


def _alpha(observed: FloatArray, expected: FloatArray, n: FloatArray) -> FloatArray:
    """(…, 1) alpha from summed disagreements: 1 - (n - 1) observed / expected."""
    disagreement = ratio(ratio(observed, n) * ratio(n - 1, n), ratio(expected, n**2))
    return (1 - disagreement)[..., None]
