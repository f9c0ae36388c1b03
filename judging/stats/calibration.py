"""Maps from the judge's score to the human scale, always judged on items that they have not seen.

Isotonic: Barlow et al. (1972), Statistical Inference under Order Restrictions; Zadrozny and Elkan (2002), KDD. Ordinal
logistic (proportional odds): McCullagh (1980), JRSS B 42:109-142. Cross-fitting by cluster keeps two items of one
profile or pair from lying on both sides of a fold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.audits.trait_fit import NoConvergenceError
from judging.stats.calibration_types import IsotonicDocument, OrdinalLogisticDocument, RecalibrationDocument
from judging.stats.proportional_odds import ProportionalOdds
from judging.stats.reliability import Reliability, reliability

MapName = Literal["isotonic", "ordinal-logistic"]
FOLDS = 5
LEAST = 10
"""Labelled items below which no map is fitted."""


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A rising step function, straight between its points.

    Attributes
    ----------
    scores, values
        (k,) distinct judge scores of the fitted items, ascending, and what people say there.
    """

    scores: FloatArray
    values: FloatArray

    @classmethod
    def fit(cls, scores: FloatArray, human: FloatArray, *, weights: FloatArray | None = None) -> "Isotonic":
        """The rising function closest to the labels in squared distance, each times its weight."""
        w = np.ones(len(scores)) if weights is None else weights
        points, place = np.unique(scores, return_inverse=True)
        times = np.bincount(place, w)
        means = np.bincount(place, w * human) / times
        return cls(points, np.asarray(scipy.optimize.isotonic_regression(means, weights=times).x, dtype=float))

    def __call__(self, scores: FloatArray) -> FloatArray:
        return np.interp(scores, self.scores, self.values, left=np.nan, right=np.nan)

    def to_json(self) -> IsotonicDocument:
        """The points, enough to apply the map elsewhere."""
        return {"method": "isotonic", "scores": self.scores.tolist(), "values": self.values.tolist()}


@dataclass(frozen=True, eq=False)
class OrdinalLogistic:
    """The mean of the human scale under a proportional-odds model of the judge's score.

    Attributes
    ----------
    model
        The fitted model.
    categories
        (q,) scores of the human scale.
    low, high
        Range of the judge's scores it was fitted to.
    """

    model: ProportionalOdds
    categories: FloatArray
    low: float
    high: float

    @classmethod
    def fit(
        cls, scores: FloatArray, human: FloatArray, categories: FloatArray, *, weights: FloatArray | None = None
    ) -> "OrdinalLogistic":
        """The model of maximum likelihood; a label between two categories counts as the nearest."""
        codes = np.abs(human[:, None] - categories).argmin(axis=1)
        model = ProportionalOdds.fit(scores, codes.astype(np.int64), len(categories), weights=weights)
        return cls(model, categories, float(scores.min()), float(scores.max()))

    def distribution(self, scores: FloatArray) -> FloatArray:
        """(n, q) probability of each human category; NaN outside the fitted range."""
        inside = (scores >= self.low) & (scores <= self.high)
        found = self.model.probabilities(np.where(inside, scores, self.low))
        return np.where(inside[:, None], found, np.nan)

    def __call__(self, scores: FloatArray) -> FloatArray:
        mean: FloatArray = self.distribution(scores) @ self.categories
        return mean

    def to_json(self) -> OrdinalLogisticDocument:
        """The parameters, enough to apply the map elsewhere."""
        return {
            "method": "ordinal-logistic",
            "slope": self.model.slope,
            "thresholds": self.model.thresholds.tolist(),
            "categories": self.categories.tolist(),
            "range": [self.low, self.high],
        }


@dataclass(frozen=True, eq=False)
class Recalibration:
    """The judge's scores before and after a map.

    Attributes
    ----------
    method, folds, seed
        The map, the number of folds and the seed by which clusters were dealt to them.
    scores, human, weights, scale
        (n,) the judge's own scores and people's labels, NaN where missing; the weights; the ends of the human scale.
    before, after
        Reliability of the judge's own scores and of the mapped ones, on the same items, mapped without having seen
        them.
    mapped
        (n,) out-of-fold scores of the labelled items; NaN where there is none.
    outside
        Labelled items whose score lies outside the range of the other folds: the map refuses them.
    map
        The map fitted to all labelled items, for others; None where there are too few.
    reason
        Why there is no map, or None.
    """

    method: MapName
    folds: int
    seed: int
    scores: FloatArray
    human: FloatArray
    weights: FloatArray
    scale: tuple[float, float]
    before: Reliability
    after: Reliability
    mapped: FloatArray
    outside: int
    map: Isotonic | OrdinalLogistic | None
    reason: str | None

    def to_json(self) -> RecalibrationDocument:
        """The document under ``"scores"``."""
        return {
            "method": self.method,
            "out_of_sample": True,
            "folds": self.folds,
            "seed": self.seed,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "outside_range": self.outside,
            "map": None if self.map is None else self.map.to_json(),
            "reason": self.reason,
        }


def recalibrate(
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
    categories: npt.ArrayLike,
    *,
    method: MapName = "isotonic",
    clusters: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
    folds: int = FOLDS,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Recalibration:
    """Fit a map across folds and say what it does on the items it was not fitted to.

    Parameters
    ----------
    scores, human
        (n,) the judge's score and people's label of each item; NaN where missing.
    categories
        (q,) scores of the human scale, ascending.
    method
        ``"isotonic"`` or ``"ordinal-logistic"``.
    clusters
        Dialogue, profile or pair of each item; a cluster lies in one fold.
    weights
        (n,) one over the inclusion probability of each item, in the map and in all figures; equal by default.
    folds, bootstrap, confidence, seed
        Number of folds; resamples and coverage of the intervals; of folds and resamples.

    Raises
    ------
    ValueError
        If the columns differ in length, the method has another name, or there are fewer than two folds.
    """
    f, y, steps = (np.asarray(column, dtype=float) for column in (scores, human, categories))
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    if not f.shape == y.shape == w.shape or (clusters is not None and len(clusters) != len(y)):
        raise ValueError("scores, labels, weights and clusters need one entry per item")
    if method not in ("isotonic", "ordinal-logistic"):
        raise ValueError(f"method is {method!r}; it must be isotonic or ordinal-logistic")
    if folds < 2:
        raise ValueError(f"{folds} folds; there must be at least 2")
    both = ~np.isnan(f) & ~np.isnan(y)
    fold = assign_folds(clusters if clusters is not None else [str(i) for i in range(len(y))], both, folds, seed)
    reason, mapped, whole = _why_no_map(f[both], y[both], fold[both]), np.full(len(y), np.nan), None
    try:
        if reason is None:
            mapped = _cross_fitted(f, y, w, fold, both, steps, method)
            whole = fit_map(f[both], y[both], steps, method, weights=w[both])
    except NoConvergenceError as error:
        reason, mapped = str(error), np.full(len(y), np.nan)
    scale = (float(steps.min()), float(steps.max()))
    kept = both & ~np.isnan(mapped) if reason is None else both
    before, after = (
        reliability(
            np.where(kept, column, np.nan),
            y,
            scale=scale,
            clusters=clusters,
            weights=w,
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
        )
        for column in (f, mapped)
    )
    return Recalibration(
        method=method,
        folds=folds,
        seed=seed,
        scores=f,
        human=y,
        weights=w,
        scale=scale,
        before=before,
        after=after,
        mapped=mapped,
        outside=0 if reason else int((both & np.isnan(mapped)).sum()),
        map=whole,
        reason=reason,
    )


def fit_map(
    scores: FloatArray, human: FloatArray, categories: FloatArray, method: MapName, *, weights: FloatArray | None = None
) -> Isotonic | OrdinalLogistic:
    """A map fitted to all of the given items."""
    if method == "isotonic":
        return Isotonic.fit(scores, human, weights=weights)
    return OrdinalLogistic.fit(scores, human, categories, weights=weights)


def assign_folds(clusters: Sequence[str], used: BoolArray, folds: int, seed: int) -> IntArray:
    """(n,) fold of each used item, -1 for the others; clusters are dealt out at random, as evenly as they go."""
    names, place = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    present = np.unique(place[used])
    dealt = np.full(len(names), -1, dtype=np.int64)
    dealt[np.random.default_rng(seed).permutation(present)] = np.arange(len(present)) % folds
    return np.where(used, dealt[place], -1)


def _cross_fitted(
    f: FloatArray,
    y: FloatArray,
    w: FloatArray,
    fold: IntArray,
    both: BoolArray,
    scale: FloatArray,
    method: MapName,
) -> FloatArray:
    mapped = np.full(len(y), np.nan)
    for k in np.unique(fold[both]).tolist():
        rest, inside = both & (fold != k), fold == k
        mapped[inside] = fit_map(f[rest], y[rest], scale, method, weights=w[rest])(f[inside])
    return mapped


def _why_no_map(f: FloatArray, y: FloatArray, fold: IntArray) -> str | None:
    if len(f) < LEAST:
        return f"{len(f)} labelled items that the judge scored; a map needs at least {LEAST}"
    if len(np.unique(fold)) < 2:
        return "all labelled items lie in one cluster: nothing is left to check a map on"
    if np.ptp(f) == 0:
        return "the judge always gives the same score"
    return "every label is the same" if np.ptp(y) == 0 else None
