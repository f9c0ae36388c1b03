"""Difficulty of items that nobody rated, predicted from what is known of them, with the error of doing so.

A ridge regression of the fitted difficulty (as log odds, weighted by its precision) on the features; on its predictions
made out of fold, the odds of the tiers (`annotation.stats.difficulty.tier_odds`). Penalty and odds are chosen inside
the training part; the errors are of items in other clusters than those which it was fitted to. Where these do not show
that features beat the mean, every item gets the mean and the full spread.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.bands import TIERS, Cuts
from annotation.stats.difficulty.described import LEVEL
from annotation.stats.difficulty.features import FeatureTable
from annotation.stats.difficulty.items import Difficulty
from annotation.stats.difficulty.prediction_error import PredictionError, prediction_error
from annotation.stats.difficulty.result_types import BlurDocument, PredictedHead, PredictedItemDocument, PredictedItems
from annotation.stats.difficulty.ridge import FOLDS, Ridge, deal_folds, fit_ridge
from annotation.stats.difficulty.tier_odds import TierOdds, fit_tier_odds
from annotation.stats.table import BoolArray, FloatArray, IntArray, RatingTable

LEAST_ITEMS = 40
"""Items with a fitted difficulty below which nothing is fitted to them."""

LEAST_CLUSTERS = 10
OUTER_FOLDS = 10

LEAST_KNOWN = 0.5
"""Share of the rated items, and of those to predict, for which a feature has to be known."""

HARD = [TIERS.index("hard"), TIERS.index("contested")]

EDGE = 0.005
"""Difficulties are kept this far from 0 and 1 before their log odds are taken."""

NO_FEATURES = "nothing is known of the items that differs between them"


class TooFewItemsError(ValueError):
    """There are not enough items with a fitted difficulty to learn from; the message says how many are needed."""


@dataclass(frozen=True, eq=False)
class Blur:
    """How well tiers can be told.

    Attributes
    ----------
    confusion
        (4, 4) sums over the items of the predicted times the fitted probability of each pair of `TIERS`.
    sure_predicted, sure_fitted
        Mean probability of an item's likeliest tier, 1/4 to 1.
    """

    confusion: FloatArray
    sure_predicted: float
    sure_fitted: float

    def to_json(self) -> BlurDocument:
        """As JSON types."""
        pairs = zip(TIERS, self.confusion, strict=True)
        rows = {tier: dict(zip(TIERS, row.tolist(), strict=True)) for tier, row in pairs}
        return {"predicted_by_fitted": rows, "sure_predicted": self.sure_predicted, "sure_fitted": self.sure_fitted}


@dataclass(frozen=True, eq=False)
class PredictedDifficulty:
    """Predicted difficulty of m unrated items, and how far such predictions are off.

    Attributes
    ----------
    cuts
        As of `Difficulty`.
    error
        Of the n rated items, out of fold.
    reason
        Why the features are of no use; None where they are. Every item then has the mean.
    slopes
        By feature, change of the log odds of disagreement by one standard deviation of it.
    rated, rated_tiers
        The n rated items, and (n, 4) the tier probabilities that they get out of fold.
    items, value, low, high, tiers
        The m items, (m,) probability that two fresh people disagree with the interval that holds 95 % of items of such
        features, and (m, 4) probability of each of `TIERS`.
    blur
        Of the rated items.
    seed
        By which clusters were dealt to folds.
    """

    cuts: Cuts
    error: PredictionError
    reason: str | None
    slopes: Mapping[str, float]
    rated: tuple[str, ...]
    rated_tiers: FloatArray
    items: tuple[str, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    tiers: FloatArray
    blur: Blur
    seed: int

    @property
    def tier(self) -> tuple[str, ...]:
        """The likeliest tier of each predicted item."""
        return tuple(TIERS[k] for k in np.argmax(self.tiers, axis=1).tolist())

    @property
    def expected_counts(self) -> dict[str, float]:
        """How many of the predicted items there are of each tier: sums of probabilities."""
        return dict(zip(TIERS, self.tiers.sum(axis=0).tolist(), strict=True))

    def to_json(self) -> PredictedItems:
        """As JSON types: the error, then item by item."""
        return {**self.to_head(), "items": self.rows()}

    def to_head(self) -> PredictedHead:
        """The same without the items."""
        return {
            "cuts": list(self.cuts),
            "error": self.error.to_json(),
            "reason": self.reason,
            "slopes": dict(self.slopes),
            "n_rated": len(self.rated),
            "blur": self.blur.to_json(),
            "expected_counts": self.expected_counts,
            "seed": self.seed,
        }

    def rows(self) -> list[PredictedItemDocument]:
        """The items as JSON types."""
        rows = zip(self.items, self.value, self.low, self.high, self.tiers, self.tier, strict=True)
        return [
            {
                "item": item,
                "difficulty": {"value": float(value), "low": float(low), "high": float(high), "reason": None},
                "tiers": dict(zip(TIERS, of.tolist(), strict=True)),
                "tier": tier,
            }
            for item, value, low, high, of, tier in rows
        ]


def predict_difficulty(
    found: Difficulty,
    table: RatingTable,
    features: FeatureTable,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PredictedDifficulty:
    """Learn from the items of a table that were fitted; predict the other items of the features.

    Parameters
    ----------
    found, table
        The fitted difficulty of a table's items, and the table.
    features
        Of items of the table, and of the items to be predicted. Only features known of both are used.
    seed
        Of folds and intervals.

    Raises
    ------
    TooFewItemsError
        With fewer than 40 fitted items that have features, or fewer than ten clusters of them.
    """
    place = {name: row for row, name in enumerate(features.items)}
    usable = found.fitted & np.array([name in place for name in table.items], dtype=bool)
    learnt = _Training.fit(found, table.subset_items(usable), usable)
    rows = np.array([place[name] for name in learnt.table.items], dtype=np.int64)
    new = np.ones(len(features.items), dtype=bool)
    new[rows] = False
    used = _find_usable(features.values[rows]) & _find_usable(features.values[new])
    x = features.values[:, used]
    held = _cross_fit(x[rows], learnt, seed)
    means = learnt.tier_means
    error = prediction_error(
        held.tiers @ means,
        held.flat @ means,
        learnt.value,
        learnt.table,
        hard=(held.tiers[:, HARD].sum(axis=1), learnt.tiers[:, HARD].sum(axis=1)),
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
    )
    whole = _fit(x[rows], learnt, np.ones(len(rows), dtype=bool), seed)
    reason = _why_not(error, int(used.sum()))
    odds = TierOdds.flat(learnt.tiers, learnt.weights) if reason else whole.odds
    tiers = odds.probabilities(whole.ridge.predict(x[new]))
    rated_tiers = held.flat if reason else held.tiers
    low, high = _spread(tiers, learnt.ends)
    return PredictedDifficulty(
        cuts=found.cuts,
        error=error,
        reason=reason,
        slopes=_slopes(whole, features, used),
        rated=learnt.table.items,
        rated_tiers=rated_tiers,
        items=features.subset(new).items,
        value=tiers @ means,
        low=low,
        high=high,
        tiers=tiers,
        blur=_blur(rated_tiers, learnt.tiers),
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Training:
    """What n fitted items teach: log odds, weights with precision and without, and tiers."""

    table: RatingTable
    value: FloatArray
    logit: FloatArray
    precision: FloatArray
    weights: FloatArray
    tiers: FloatArray
    cuts: Cuts
    most: float

    @classmethod
    def fit(cls, found: Difficulty, table: RatingTable, kept: BoolArray) -> "_Training":
        clusters = table.n_items if table.clusters is None else len(set(table.clusters))
        if table.n_items < LEAST_ITEMS or clusters < LEAST_CLUSTERS:
            have = f"{table.n_items} rated items in {clusters} clusters have a fitted difficulty"
            raise TooFewItemsError(f"{have}; {LEAST_ITEMS} in {LEAST_CLUSTERS} clusters are needed to learn from")
        weights = np.ones(table.n_items) if table.weights is None else table.weights / table.weights.mean()
        logit, low, high = (_log_odds(column[kept]) for column in (found.value, found.low, found.high))
        own = ((high - low) / (2 * scipy.special.ndtri((1 + LEVEL) / 2))) ** 2
        between = float(np.average((logit - np.average(logit, weights=weights)) ** 2, weights=weights))
        precision = weights / np.maximum(own + between, 1e-9)
        return cls(
            table, found.value[kept], logit, precision / precision.mean(), weights, found.tiers[kept], found.cuts,
            float(found.high[kept].max()),
        )  # fmt: skip

    @property
    def clusters(self) -> tuple[str, ...]:
        return self.table.items if self.table.clusters is None else self.table.clusters

    @property
    def ends(self) -> FloatArray:
        """(4, 2) smallest and largest difficulty of each of `TIERS`."""
        hard, medium, easy = (1 - cut for cut in self.cuts)
        return np.array([(hard, max(self.most, hard)), (medium, hard), (easy, medium), (0.0, easy)])

    @property
    def tier_means(self) -> FloatArray:
        """(4,) mean difficulty of each tier: an item's is the mean of these by the probabilities of its tiers."""
        ends, root = self.ends, np.sqrt(self.weights)
        bounds = ends[:, 0], np.maximum(ends[:, 1], ends[:, 0] + 1e-9)
        solved = scipy.optimize.lsq_linear(root[:, None] * self.tiers, root * self.value, bounds=bounds)
        return np.asarray(solved.x)


@dataclass(frozen=True, eq=False)
class _Fit:
    ridge: Ridge
    odds: TierOdds


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """(n, 4) tier probabilities of each item without its fold: by the features, and by the mean."""

    tiers: FloatArray
    flat: FloatArray


def _fit(x: FloatArray, learnt: _Training, kept: BoolArray, seed: int) -> _Fit:
    """Fitted to the items where the mask (n,) is true."""
    clusters = [name for name, there in zip(learnt.clusters, kept.tolist(), strict=True) if there]
    found = fit_ridge(x[kept], learnt.logit[kept], learnt.precision[kept], deal_folds(clusters, FOLDS, seed))
    return _Fit(found.ridge, fit_tier_odds(found.out_of_fold, learnt.tiers[kept], learnt.weights[kept]))


def _cross_fit(x: FloatArray, learnt: _Training, seed: int) -> _HeldOut:
    fold: IntArray = deal_folds(learnt.clusters, OUTER_FOLDS, seed)
    tiers, flat = np.empty(learnt.tiers.shape), np.empty(learnt.tiers.shape)
    for k in np.unique(fold).tolist():
        inside = fold == k
        fitted = _fit(x, learnt, ~inside, seed)
        tiers[inside] = fitted.odds.probabilities(fitted.ridge.predict(x[inside]))
        mean = TierOdds.flat(learnt.tiers[~inside], learnt.weights[~inside])
        flat[inside] = mean.probabilities(np.zeros(int(inside.sum())))
    return _HeldOut(tiers, flat)


def _why_not(error: PredictionError, n_features: int) -> str | None:
    if error.predicts:
        return None
    if not n_features:
        return NO_FEATURES
    gain = error.gain
    if np.isnan(gain.low):
        return gain.reason or "the gain over guessing the mean has no interval"
    return (
        f"out of sample the features lower the squared error of guessing the mean by {100 * gain.value:.1f} %, "
        f"interval {100 * gain.low:.1f} % to {100 * gain.high:.1f} %: it does not lie above 0"
    )


def _find_usable(values: FloatArray) -> BoolArray:
    """(k,) features known of enough of the items (n, k); of no items every feature is."""
    return np.asarray(
        np.isnan(values).mean(axis=0) <= 1 - LEAST_KNOWN if len(values) else np.ones(values.shape[1], bool)
    )


def _slopes(fitted: _Fit, features: FeatureTable, used: BoolArray) -> dict[str, float]:
    names = [name for name, there in zip(features.names, used.tolist(), strict=True) if there]
    return dict(zip(names, fitted.ridge.slopes.tolist(), strict=True))


def _log_odds(difficulty: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.logit(np.clip(difficulty, EDGE, 1 - EDGE)))


def _spread(tiers: FloatArray, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(m,) ends of the central part of `LEVEL` of difficulties spread evenly within each tier (4, 2)."""
    easiest_first = np.cumsum(tiers[:, ::-1], axis=1)
    below = np.hstack([np.zeros((len(tiers), 1)), easiest_first])
    edges = np.r_[ends[-1, 0], ends[::-1, 1]]
    tail = (1 - LEVEL) / 2
    found = np.array([[np.interp(at, row, edges) for at in (tail, 1 - tail)] for row in below])
    return (found[:, 0], found[:, 1]) if len(found) else (np.empty(0), np.empty(0))


def _blur(predicted: FloatArray, fitted: FloatArray) -> Blur:
    return Blur(predicted.T @ fitted, float(predicted.max(axis=1).mean()), float(fitted.max(axis=1).mean()))
