"""One rater against a group: its majority, and its mean score.

The rater may be a judge, or an annotator whose own ratings are taken out of the group.
"""

import numpy as np

from annotation.stats import cohen
from annotation.stats.arrays import ratio
from annotation.stats.majority import majority
from annotation.stats.resampling import Replicates, Resampling, Statistic, replicate, side_by_side
from annotation.stats.scores import build_masked_means, macro_scores, pearson, rank_correlations
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable

VERSUS_MAJORITY = (
    "accuracy",
    "majority_cohen_kappa",
    "majority_weighted_cohen_kappa",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)
VERSUS_MEAN = ("spearman", "kendall_tau_b", "pearson", "mae", "within_one", "bias")

OF_ITEMS = (*VERSUS_MAJORITY, *VERSUS_MEAN)
"""The values of `of_items`, in order."""

ROUNDING = 1e-9
"""A mean this little more than one step away is one step away."""


def compute_item_figures(
    group: RatingTable, codes: IntArray, resampling: Resampling, scores: FloatArray | None = None
) -> Replicates:
    """The figures of `OF_ITEMS` of a rater's ``codes`` (n_items,), -1 where missing, against ``group``.

    Accuracy, kappas and macro scores are against the majority, where there is one; the others against the
    mean score of an item's ratings, NaN without scores. ``mae`` and ``bias`` (the rater's score minus the
    mean, above 0 where the rater is lenient) are in units of the scores, ``within_one`` counts steps.

    With ``scores`` (n_items,), in units of the scale, correlations, ``mae`` and ``bias`` are of these instead of those
    that belong to the codes; what needs a category still reads the codes.
    """
    decided = majority(group).codes
    both = np.column_stack([codes, decided])
    own = to_scores(group, codes)
    x, y = own if scores is None or not group.has_scores else scores, mean_scores(group)
    errors = np.column_stack([np.abs(x - y), _near(group, codes), x - y])
    statistics: list[Statistic] = [
        cohen.pairs_statistic(both, [(0, 1)], group.n_categories, cohen.compute_distances(group)),
        macro_scores(codes, decided, group.n_categories),
        rank_correlations(x, y),
        pearson(x, y),
        build_masked_means(errors),
    ]
    pair, *rest = replicate(statistics, resampling)
    order = [cohen.KINDS.index(kind) for kind in ("percent_agreement", "cohen_kappa", "weighted_cohen_kappa")]
    return side_by_side([pair.select(order), *rest])


def minus(a: Replicates, b: Replicates) -> Replicates:
    """Differences value by value, replicate by replicate: both come from the same draws."""
    if not len(a.bootstrap) or not len(b.bootstrap):  # one side has no pairs, or no interval was asked for
        return Replicates(a.value - b.value, np.empty((0, len(a.value))), np.empty((0, len(a.value))))
    return Replicates(a.value - b.value, a.bootstrap - b.bootstrap, a.left_out - b.left_out)


def to_scores(group: RatingTable, codes: IntArray) -> FloatArray:
    """(n_items,) scores of ``codes`` on the group's scale, NaN where missing, and where categories have no scores."""
    if not group.has_scores or not group.n_categories:
        return np.full(len(codes), np.nan)
    return np.where(codes == MISSING, np.nan, group.scores[codes])


def mean_scores(group: RatingTable) -> FloatArray:
    """(n_items,) mean score of an item's ratings; NaN without any, and where categories have none."""
    if not group.has_scores:
        return np.full(group.n_items, np.nan)
    return ratio(group.counts @ group.scores, group.ratings_per_item)


def _near(group: RatingTable, codes: IntArray) -> FloatArray:
    """(n_items,) 1 where rater and mean are at most one step of the scale apart, else 0."""
    if not group.has_scores:
        return np.full(len(codes), np.nan)
    place = np.where(codes == MISSING, np.nan, codes)
    mean_place = ratio(group.counts @ np.arange(float(group.n_categories)), group.ratings_per_item)
    steps = np.abs(place - mean_place)
    return np.where(np.isnan(steps), np.nan, steps <= 1 + ROUNDING)
