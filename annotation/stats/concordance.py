"""How far rankings of an item's responses agree: Kendall's W, and the pairs of responses that people order alike.

W = 12 S / (m^2 (N^3 - N) - m T) of m rankings of N responses, S the squared deviations of the sums of ranks, T the
sum of t^3 - t over groups of t tied responses (Kendall 1970, Rank Correlation Methods, chapter 6).
"""

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import item_agreement
from annotation.stats.kemeny import ranks_of
from annotation.stats.rankings import parse_ranking
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray, RatingTable

NAMES = ("kendall_w", "pairwise_agreement")
"""The values of `concordance`, in order: means over the items with two or more rankings."""

ALL_TIED = "everybody calls all responses tied"


def concordance(table: RatingTable) -> SumStatistic:
    """The two of `NAMES` of a table of rankings as one statistic.

    ``pairwise_agreement`` is the share of pairs of responses that two people order alike, a tie against a preference
    counting half. Items on which everybody calls all tied have no W.
    """
    w, alike = item_concordance(table), item_agreement(table)
    columns = [~np.isnan(w), np.nan_to_num(w), ~np.isnan(alike), np.nan_to_num(alike)]
    return SumStatistic(np.column_stack(columns).astype(float), _means, lambda sums: sums[..., [0, 2]])


def item_concordance(table: RatingTable) -> FloatArray:
    """(n_items,) Kendall's W of each item, 0 to 1; NaN below two rankings, and where all are tied throughout."""
    rankings = [str(category) for category in table.categories]
    if not rankings:
        return np.full(table.n_items, np.nan)
    ranks, tied = ranks_of(rankings), np.array([_ties(text) for text in rankings], dtype=float)
    n, m = ranks.shape[1], table.ratings_per_item
    sums = table.counts @ ranks
    squares = ((sums - sums.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    most = m**2 * (n**3 - n) - m * (table.counts @ tied)
    return np.where(table.pairable, ratio(12 * squares, most), np.nan)


def _ties(text: str) -> int:
    """T of one ranking."""
    return sum(len(group) ** 3 - len(group) for group in parse_ranking(text))


def _means(sums: FloatArray) -> FloatArray:
    return np.stack([ratio(sums[..., 1], sums[..., 0]), ratio(sums[..., 3], sums[..., 2])], axis=-1)
