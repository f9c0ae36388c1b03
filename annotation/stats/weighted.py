"""The coefficients that take any agreement weights, under one set of them.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapters 3 and 4. With identity weights these
are the coefficients of `annotation.stats.agreement.agreement`.
"""

from functools import partial

import numpy as np

from annotation.stats import chance_corrected as chance
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.arrays import ratio
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.pairs import count_basis
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.table import FloatArray, RatingTable
from annotation.stats.weighting import Weighting, compute_weights

NAMES = ("percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger")
"""The coefficients of `build_weighted_coefficients`, in the order of its values."""


def compute_weighted_agreement(
    table: RatingTable,
    weighting: Weighting | FloatArray,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """The coefficients of `NAMES` and Krippendorff's alpha with the given weights, with intervals.

    Parameters
    ----------
    table
        The ratings.
    weighting
        The name of the weights, or the (q, q) weights themselves: 1 for full credit, 0 for none.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.

    Raises
    ------
    ValueError
        On an unknown name, or weights of another shape than the scale.
    """
    weights = compute_weights(table, weighting) if isinstance(weighting, str) else np.asarray(weighting, dtype=float)
    if weights.shape != (table.n_categories,) * 2:
        raise ValueError(f"weights have shape {weights.shape} for {table.n_categories} categories")
    distinct = distinct_items(table)
    resampling = Resampling.from_table(
        distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
    )
    statistics = [
        build_weighted_coefficients(distinct.table, weights),
        krippendorff_alpha(distinct.table, difference=1 - weights, item_weights=resampling.item_weights),
    ]
    basis, reason = count_basis(table, table.pairable), chance.explain_undefined(table)
    shared, alpha = replicate(statistics, resampling)
    found = estimates(shared, resampling, [basis] * len(NAMES), [reason] * len(NAMES), scale=find_scales(NAMES))
    found += estimates(alpha, resampling, [basis], [reason], scale="coefficient")
    return dict(zip((*NAMES, "krippendorff_alpha"), found, strict=True))


def build_weighted_coefficients(table: RatingTable, weights: FloatArray) -> SumStatistic:
    """The coefficients of `NAMES` under (q, q) agreement ``weights``, as one statistic.

    Agreement is the weighted share of agreeing pairs of ratings, averaged over items with two; chance is the
    weight of two answers drawn from the category shares (Fleiss), from equal shares (Brennan–Prediger), or
    Gwet's.
    """
    counts, size = table.counts, table.ratings_per_item
    pairs = size * (size - 1)
    agreeing = chance.pairs_agreeing(counts, weights)
    columns = [
        table.pairable,
        np.where(pairs > 0, agreeing / np.where(pairs > 0, pairs, 1), 0.0),
        size > 0,
        *np.where(size > 0, counts.T / np.where(size > 0, size, 1), 0.0),
    ]
    return SumStatistic(np.column_stack(columns).astype(float), partial(_values, weights=weights), _count_pairable)


def _count_pairable(sums: FloatArray) -> FloatArray:
    """(…, 4) number of pairable items, over which agreement is a mean; the other coefficients are none."""
    return np.where(np.arange(len(NAMES)) == 0, sums[..., :1], np.nan)


def _values(sums: FloatArray, *, weights: FloatArray) -> FloatArray:
    observed = ratio(sums[..., 1], sums[..., 0])
    shares = ratio(sums[..., 3:], sums[..., 2:3])
    by_shares = ((shares @ weights) * shares).sum(axis=-1)
    uniform = np.full_like(observed, weights.mean()) if weights.size else np.full_like(observed, np.nan)
    values = [
        observed,
        chance.correct_for_chance(observed, by_shares),
        chance.correct_for_chance(observed, chance.gwet_chance(shares, weights)),
        chance.correct_for_chance(observed, uniform),
    ]
    return np.stack(values, axis=-1)
