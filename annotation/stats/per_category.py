"""Fleiss' kappa of each category: do raters agree on what is, and what is not, of this category?

Fleiss (1971), Psychological Bulletin 76:378-382, section "agreement on a particular category". It is Fleiss'
kappa of the ratings with all other categories merged into one.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import correct_for_chance, explain_undefined
from annotation.stats.estimate import Estimate
from annotation.stats.labels import Label
from annotation.stats.resampling import SumStatistic
from annotation.stats.result_types import CategoryDocument
from annotation.stats.table import FloatArray, RatingTable


@dataclass(frozen=True)
class CategoryAgreement:
    """One category: its mean ``share`` of an item's ratings, 0 to 1, and Fleiss' kappa on it."""

    category: Label
    share: Estimate
    fleiss_kappa: Estimate

    def to_json(self) -> CategoryDocument:
        """The category as JSON types."""
        return {
            "category": self.category,
            "share": self.share.to_json(),
            "fleiss_kappa": self.fleiss_kappa.to_json(),
        }


def build_category_statistic(table: RatingTable) -> SumStatistic:
    """Shares of the q categories and their q kappas, as one statistic with 2 q values.

    With r_ij of the r_i ratings of item i in category j, an item's pairs agree on j where both or neither say
    j. Shares are averaged over rated items and agreement over items with two ratings, as in
    `chance_corrected`. A kappa is NaN where the category is never, or always, used.
    """
    counts, size = table.counts, table.ratings_per_item[:, None]
    pairs = size * (size - 1)
    others = size - counts
    agreeing = counts * (counts - 1) + others * (others - 1)
    columns = [
        table.pairable,
        table.ratings_per_item > 0,
        np.where(pairs > 0, agreeing / np.where(pairs > 0, pairs, 1), 0.0),
        np.where(size > 0, counts / np.where(size > 0, size, 1), 0.0),
    ]
    return SumStatistic(np.column_stack(columns).astype(float), _values, _count_rated)


def _values(sums: FloatArray) -> FloatArray:
    """(…, 2 q) from sums (…, 2 + 2 q): pairable items, rated items, agreement and shares per category."""
    q = (sums.shape[-1] - 2) // 2
    share = ratio(sums[..., 2 + q :], sums[..., 1:2])
    observed = ratio(sums[..., 2 : 2 + q], sums[..., :1])
    kappa = correct_for_chance(observed, share**2 + (1 - share) ** 2)
    return np.concatenate([share, kappa], axis=-1)


def _count_rated(sums: FloatArray) -> FloatArray:
    """(…, 2 q) number of rated items, over which shares are means; kappas are none."""
    n = sums.shape[-1] - 2
    return np.where(np.arange(n) < n // 2, sums[..., 1:2], np.nan)


def reasons(table: RatingTable) -> list[str]:
    """Why each of the 2 q values is undefined, where it is."""
    used = table.counts.sum(axis=0)
    kappa = [
        explain_undefined(table)
        if not table.pairable.any()
        else "category never used"
        if not n
        else "one category used"
        for n in used
    ]
    return ["no ratings"] * table.n_categories + kappa
