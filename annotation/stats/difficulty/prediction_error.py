"""How far predictions of difficulty are off, on items that took no part in them, beside guessing the mean.

What people were seen to disagree on an item is an unbiased measure of its difficulty, however few they are: its noise
adds the same to the squared error of every prediction, so that differences of errors are those against the truth.
"""

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.difficulty.components import is_unordered
from annotation.stats.difficulty.preferences import preference_order
from annotation.stats.difficulty.result_types import PredictionErrorDocument
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Resampling, Statistic, SumStatistic, replicate
from annotation.stats.scores import build_masked_means, spearman
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import positions

BINS = 5
TINY = 1e-12
LEAST_IN_BIN = 10

SCALES: tuple[Scale, ...] = ("coefficient", "plain", "plain", "plain")
"""Of the rank correlation, the squared errors, the gain and the slope."""

CONSTANT = "the prediction, or what it is held to, is the same for every item"
NOTHING = "no item has two ratings"


class PredictionBin(TypedDict):
    """Items of like predicted difficulty."""

    predicted: float
    n_items: int
    observed: Estimate
    hard_predicted: float
    hard_fitted: Estimate


@dataclass(frozen=True, eq=False)
class PredictionError:
    """Errors of predictions made without the item.

    Attributes
    ----------
    rank_correlation
        Spearman's, of predicted and fitted difficulty; -1 to 1.
    squared_error, squared_error_of_mean
        Mean squared distance of the prediction, and of the mean, from the disagreement that was seen.
    gain
        Share by which the prediction lowers the squared error of the mean; at most 1, below 0 where it raises it.
    slope
        By how much seen disagreement rises where the prediction rises by one; 1 is calibrated.
    bins
        Items by predicted difficulty, in up to five parts of like size: mean prediction, and disagreement seen; mean
        predicted probability of being hard or contested, and the same by the items' own ratings.
    """

    rank_correlation: Estimate
    squared_error: Estimate
    squared_error_of_mean: Estimate
    gain: Estimate
    slope: Estimate
    bins: tuple[PredictionBin, ...]

    @property
    def predicts(self) -> bool:
        """Whether the whole interval of the gain lies above 0."""
        return bool(self.gain.low > 0)

    def to_json(self) -> PredictionErrorDocument:
        """As JSON types."""
        return {
            "predicts": self.predicts,
            "rank_correlation": self.rank_correlation.to_json(),
            "squared_error": self.squared_error.to_json(),
            "squared_error_of_mean": self.squared_error_of_mean.to_json(),
            "gain": self.gain.to_json(),
            "slope": self.slope.to_json(),
            "bins": [
                {**one, "observed": one["observed"].to_json(), "hard_fitted": one["hard_fitted"].to_json()}
                for one in self.bins
            ],
        }


def compute_disagreement(table: RatingTable) -> FloatArray:
    """(n,) share of pairs of ratings that disagree, on an ordered scale by steps; NaN below two ratings.

    As in the difficulty model: the tie of a preference lies between the two responses.
    """
    size = (table.codes != MISSING).sum(axis=1)
    order = preference_order(table)
    if is_unordered(table) and order is None:
        apart = size * (size - 1) - (table.counts * (table.counts - 1)).sum(axis=1)
    else:
        places = np.argsort(order).astype(float) if order else positions(table)
        scaled = (places - places.min()) / max(float(np.ptp(places)), TINY)
        ascending = np.sort(np.where(table.codes == MISSING, np.nan, scaled[table.codes]), axis=1)  # NaN go last
        rank = np.arange(ascending.shape[1])
        apart = 2 * np.nansum(ascending * (2 * rank - size[:, None] + 1), axis=1)  # distances of all ordered pairs
    return np.where(size > 1, apart / np.maximum(size * (size - 1), 1), np.nan)


def prediction_error(
    predicted: FloatArray,
    guessed: FloatArray,
    fitted: FloatArray,
    table: RatingTable,
    *,
    hard: tuple[FloatArray, FloatArray],
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PredictionError:
    """Errors of predictions (n,) of the items of a table.

    Parameters
    ----------
    predicted, guessed
        (n,) difficulty of each item by features and by the mean, both made without it.
    fitted
        (n,) its difficulty by its own ratings.
    table
        The ratings; its clusters, strata and weights make the intervals.
    hard
        (n,) probability of being hard or contested, as predicted and as fitted.
    """
    seen = compute_disagreement(table)
    resampling = Resampling.from_table(table, bootstrap=bootstrap, confidence=confidence, seed=seed)
    off, off_mean = (seen - predicted) ** 2, (seen - guessed) ** 2
    edges = _bin_of(predicted)
    n_bins = int(edges.max(initial=-1)) + 1
    parts = [np.where(edges == k, column, np.nan) for column in (seen, hard[1]) for k in range(n_bins)]
    statistics: list[Statistic] = [
        spearman(predicted, fitted),
        build_masked_means(np.column_stack([off, off_mean])),
        _gain(off, off_mean),
        _slope(predicted - guessed, seen - guessed),
        build_masked_means(np.column_stack(parts)),
    ]
    made = replicate(statistics, resampling)
    used = ~np.isnan(seen)
    basis, why = _basis(table, used), CONSTANT if used.any() else NOTHING
    rank, errors, gain, slope = (
        estimates(one, resampling, [basis] * len(one.value), [why] * len(one.value), scale=scale)
        for one, scale in zip(made[:-1], SCALES, strict=True)
    )
    bases = [_basis(table, (edges == k) & mask) for mask in (used, ~np.isnan(fitted)) for k in range(n_bins)]
    by_bin = estimates(made[-1], resampling, bases, [NOTHING] * len(parts), scale="share")
    bins: list[PredictionBin] = [
        {
            "predicted": float(predicted[edges == k].mean()),
            "n_items": by_bin[k].n_items,
            "observed": by_bin[k],
            "hard_predicted": float(hard[0][edges == k].mean()),
            "hard_fitted": by_bin[n_bins + k],
        }
        for k in range(n_bins)
    ]
    return PredictionError(rank[0], errors[0], errors[1], gain[0], slope[0], tuple(bins))


def _basis(table: RatingTable, used: BoolArray) -> Basis:
    there = table.codes[used] != MISSING
    return Basis(int(used.sum()), int(there.any(axis=0).sum()), int(there.sum()))


def _gain(off: FloatArray, off_mean: FloatArray) -> SumStatistic:
    known = np.isfinite(off)
    columns = np.column_stack([np.where(known, off, 0.0), np.where(known, off_mean, 0.0)])
    return SumStatistic(columns, lambda sums: 1 - ratio(sums[..., :1], sums[..., 1:]))


def _slope(x: FloatArray, y: FloatArray) -> SumStatistic:
    """The slope of y on x (n,), over the items where both are numbers; NaN where x has a single value."""
    known = np.isfinite(x) & np.isfinite(y)
    u, v = np.where(known, x, 0.0), np.where(known, y, 0.0)
    columns = np.column_stack([known.astype(float), u, v, u * u, u * v])

    def slope(sums: FloatArray) -> FloatArray:
        n, a, b, aa, ab = np.moveaxis(sums, -1, 0)
        spread = n * aa - a**2
        return ratio(n * ab - a * b, np.where(spread > TINY * n * aa, spread, 0.0))[..., None]

    return SumStatistic(columns, slope)


def _bin_of(predicted: FloatArray) -> IntArray:
    """(n,) part of each prediction, 0 the easiest; ties lie in one part."""
    n = int(min(BINS, max(1, len(predicted) // LEAST_IN_BIN)))
    ends = np.unique(np.quantile(predicted, np.arange(1, n) / n)) if n > 1 else np.empty(0)
    return np.unique(np.searchsorted(ends, predicted, side="left"), return_inverse=True)[1].ravel()
