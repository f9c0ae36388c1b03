"""Agreement of any raters on an item, corrected for chance: Fleiss, Gwet, Brennan–Prediger.

All of them compare one share of agreeing pairs with one idea of chance. Raters are exchangeable here: what
counts is how many raters chose which category.

References
----------
Fleiss (1971), Psychological Bulletin 76:378-382. Brennan and Prediger (1981), Educational and Psychological
Measurement 41:687-699. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29-48;
Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapters 2 to 4 (unequal numbers of ratings,
weights).
"""

from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray, RatingTable
from annotation.stats.weighting import compute_weights, default_weighting, identity_weights

NAMES = ("percent_agreement", "fleiss_kappa", "fleiss_kappa_pooled", "gwet_ac", "brennan_prediger")
"""The coefficients of `chance_corrected`, in the order of its values."""


BY_COUNT = ("gwet_ac", "brennan_prediger")
"""Their chance goes by the number of categories."""

NOT_COUNTED = "chance would go by the number of all answers there could be, most of which nobody gives"

DISTINCT = 1e-9
"""Weights that differ by less are the same."""

DECIMALS = 9
"""Distances in steps are rounded to these."""


def chance_corrected(table: RatingTable, weights: FloatArray | None = None) -> SumStatistic:
    """The five coefficients of `NAMES` as one statistic.

    Parameters
    ----------
    table
        The ratings. Agreement comes from items with at least two of them, category shares from all rated
        items.
    weights
        (q, q) agreement weights of ``gwet_ac`` alone; by default identity (AC1) for a nominal scale and
        quadratic (AC2) otherwise. The other four count exact agreement.

    Notes
    -----
    With r_ik of the r_i ratings of item i in category k, an item's share of agreeing pairs is
    sum_k r_ik (r*_ik - 1) / (r_i (r_i - 1)), r*_ik the weighted count; the share of category k is the mean of
    r_ik / r_i over rated items (Gwet 2014). ``fleiss_kappa_pooled`` gives every pair of ratings, not every
    item, the same say: pairs are summed before they are divided, and so are the categories.
    """
    if weights is None:
        weights = compute_weights(table, default_weighting(table))
    counts, size = table.counts, table.ratings_per_item
    pairs = size * (size - 1)
    agreeing = pairs_agreeing(counts, identity_weights(table.n_categories))
    apart, step = _in_steps(1 - weights)
    columns = [
        table.pairable,
        _share(agreeing, pairs),
        _share((counts * (counts @ apart)).sum(axis=1), pairs),
        agreeing,
        pairs,
        size > 0,
        *_share(counts.T, size),
        *np.where(table.pairable, counts.T, 0.0),
    ]
    function = partial(_coefficients, weights=weights, step=step, is_counted=table.has_scale)
    return SumStatistic(np.column_stack(columns).astype(float), function, count_pairable)


def count_pairable(sums: FloatArray) -> FloatArray:
    """(…, 5) number of pairable items, over which percent agreement is a mean; the other coefficients are none."""
    return np.where(np.arange(len(NAMES)) == 0, sums[..., :1], np.nan)


def pairs_agreeing(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """(n_items,) weighted number of ordered pairs of ratings that agree."""
    agreeing: FloatArray = (counts * (counts @ weights - 1)).sum(axis=1)
    return agreeing


def item_agreement(table: RatingTable) -> FloatArray:
    """(n_items,) mean credit P_i of the pairs of ratings of each item, 0 to 1; NaN below two ratings.

    On a nominal scale the share of pairs that agree; on an ordered one near misses count as near (quadratic weights);
    of rankings the share of pairs of responses that are ordered alike (Kemeny weights), of sets their MASI.
    """
    pairs = table.ratings_per_item * (table.ratings_per_item - 1)
    return ratio(pairs_agreeing(table.counts, compute_weights(table, default_weighting(table))), pairs)


def margins(table: RatingTable) -> FloatArray:
    """(q,) mean share of each category over rated items, summing to 1; NaN where nothing is rated."""
    rated = table.ratings_per_item > 0
    if not rated.any():
        return np.full(table.n_categories, np.nan)
    shares = table.counts[rated] / table.ratings_per_item[rated, None]
    weights = None if table.weights is None else table.weights[rated]
    mean: FloatArray = np.average(shares, axis=0, weights=weights)
    return mean


def correct_for_chance(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(observed - expected) / (1 - expected), NaN where chance alone already agrees fully."""
    return ratio(observed - expected, 1 - expected)


def explain_undefined(table: RatingTable) -> str:
    """Why a coefficient of agreement has no value on these ratings."""
    if table.n_ratings == 0:
        return "no ratings"
    if table.n_raters < 2:
        return "only one rater"
    if not table.pairable.any():
        return "no item with two ratings"
    if table.n_used == 1:
        return "one category used"
    return "one category used among the items with two ratings"


def _in_steps(distances: FloatArray) -> tuple[FloatArray, float]:
    """Distances in units of the smallest, and that unit: whole numbers where categories stand at equal steps."""
    positive = distances[distances > DISTINCT]
    step = float(positive.min()) if positive.size else 1.0
    return np.round(distances / step, DECIMALS), step


def _coefficients(sums: FloatArray, *, weights: FloatArray, step: float, is_counted: bool) -> FloatArray:
    """The five coefficients (…, 5) from the sums of the contributions (…, 6 + 2 q).

    Chance of the last two goes by the number of categories, which has to be that of the scale (`is_counted`).
    """
    q = len(weights)
    n_pairable, share, apart, agreeing, pairs, n_rated = np.moveaxis(sums[..., :6], -1, 0)
    shares = ratio(sums[..., 6 : 6 + q], n_rated[..., None])
    pooled_shares = ratio(sums[..., 6 + q :], sums[..., 6 + q :].sum(axis=-1, keepdims=True))
    observed = ratio(share, n_pairable)
    values = [
        observed,
        correct_for_chance(observed, compute_same_category(shares)),
        correct_for_chance(ratio(agreeing, pairs), compute_same_category(pooled_shares)),
        correct_for_chance(1 - step * ratio(apart, n_pairable), gwet_chance(shares, weights)),
        correct_for_chance(observed, np.full_like(observed, 1 / max(q, 1))),
    ]
    if not is_counted:
        values[3:] = [np.full_like(observed, np.nan)] * 2
    return np.stack(values, axis=-1)


def compute_same_category(shares: FloatArray) -> FloatArray:
    """Chance of Scott and Fleiss: two ratings drawn from the category shares (…, q) are the same."""
    chance: FloatArray = (shares**2).sum(axis=-1)
    return chance


def gwet_chance(shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Chance of Gwet: sum(weights) / (q (q - 1)) times sum of p_k (1 - p_k); NaN where q is 1."""
    q = len(weights)
    if q < 2:
        return np.full(shares.shape[:-1], np.nan)
    chance: FloatArray = weights.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return chance


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """``part / whole``, 0 where there is nothing to share: such an item adds nothing to a sum."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)
