"""How far sets of categories agree: their mean MASI and Jaccard, and Krippendorff's alpha by Jaccard's distance.

Alpha by MASI distance is the one of `annotation.stats.alpha` (Passonneau 2006, LREC; Artstein and Poesio 2008,
Computational Linguistics 34:555-596, on alpha with such distances).
"""

import numpy as np

from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.arrays import ratio
from annotation.stats.chance_corrected import pairs_agreeing
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray, RatingTable
from annotation.stats.weighting import Weighting, compute_weights


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
