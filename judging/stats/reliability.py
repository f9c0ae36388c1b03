"""How far a score says what people say: reliability diagram, ECE, Brier score, absolute error, sharpness.

Brier (1950), Monthly Weather Review 78:1-3; DeGroot and Fienberg (1983), The Statistician 32:12-22 (reliability and
sharpness); Naeini, Cooper and Hauskrecht (2015), AAAI (expected calibration error). For a scale of more than two steps
the same is asked of the mean: scores and labels are mapped to 0 … 1 by the ends of the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import SumStatistic, replicate
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import build_resampling, build_undefined
from judging.stats.calibration_error import compute_plain_error, estimate_calibration_error, place_in_bins
from judging.stats.calibration_types import BinDocument, ReliabilityDocument
from judging.stats.clusters import select_clusters

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Items whose score lies from ``low`` to ``high``: their mean score, and what people say of them on average."""

    low: float
    high: float
    n: int
    score: float
    human: Estimate

    def to_json(self) -> BinDocument:
        """A point of the reliability diagram as JSON types."""
        return {"low": self.low, "high": self.high, "n": self.n, "score": self.score, "human": self.human.to_json()}


@dataclass(frozen=True)
class Reliability:
    """Scores beside people's labels.

    Attributes
    ----------
    ece
        Expected calibration error of the population, on the scale of 0 … 1 (`judging.stats.calibration_error`).
    plain_ece
        The same of these items alone, as it is defined: mean over items of the distance between a bin's mean score and
        its mean label. It is above that of the population where bins are small.
    brier
        Mean squared distance of score and label on the scale of 0 … 1.
    mae
        Mean absolute distance in units of the scale.
    sharpness
        Standard deviation of the scores in units of the scale: a score that always says the mean is reliable and
        useless.
    bins
        The reliability diagram.
    n, left_out
        Items with both; labelled items without a score.
    """

    ece: Estimate
    plain_ece: float
    brier: Estimate
    mae: Estimate
    sharpness: Estimate
    bins: tuple[Bin, ...]
    n: int
    left_out: int

    def to_json(self) -> ReliabilityDocument:
        """The figures and the diagram as JSON types: plain numbers, and their intervals beside them."""
        return {
            "ece": number_or_none(self.plain_ece),
            "brier": number_or_none(self.brier.value),
            "mae": number_or_none(self.mae.value),
            "sharpness": number_or_none(self.sharpness.value),
            "n": self.n,
            "left_out": self.left_out,
            "bins": [one.to_json() for one in self.bins],
            "intervals": {
                "ece": self.ece.to_json(),
                "brier": self.brier.to_json(),
                "mae": self.mae.to_json(),
                "sharpness": self.sharpness.to_json(),
            },
        }


def reliability(
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    bins: int = BINS,
    clusters: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Reliability:
    """Reliability of scores (n,) as predictions of people's labels (n,), NaN where either is missing.

    Parameters
    ----------
    scores, human
        On one scale. People's label may be a mean of several.
    scale
        The ends of the human scale.
    bins
        Number of bins, equally wide over the scale.
    clusters, weights
        (n,) what is resampled together, and one over the inclusion probability; items by themselves, equal by default.
    bootstrap, confidence, seed
        Of the intervals (`annotation.stats.intervals`).

    Raises
    ------
    ValueError
        If the columns differ in length or the scale has no width.
    """
    p, y = np.asarray(scores, dtype=float), np.asarray(human, dtype=float)
    if p.shape != y.shape or not scale[0] < scale[1]:
        raise ValueError(f"scores {p.shape} and labels {y.shape} must be equally long, the scale {scale} ascend")
    labelled, both = ~np.isnan(y), ~np.isnan(y) & ~np.isnan(p)
    left_out = int(labelled.sum() - both.sum())
    n = int(both.sum())
    if n < 2:
        nothing = build_undefined("fewer than two labelled items with a score", n_items=n, confidence=confidence)
        return Reliability(nothing, np.nan, nothing, nothing, nothing, (), n, left_out)
    width = scale[1] - scale[0]
    items = _Items(
        (p[both] - scale[0]) / width,
        (y[both] - scale[0]) / width,
        np.ones(n) if weights is None else np.asarray(weights, dtype=float)[both],
        None if clusters is None else tuple(np.asarray(clusters, dtype=object)[both]),
    )
    place = np.clip((items.score * bins).astype(np.int64), 0, bins - 1)
    resampling = build_resampling(n, items.clusters, items.weight, confidence, bootstrap=bootstrap, seed=seed)
    (replicates,) = replicate([SumStatistic(_contributions(items), _measures)], resampling)
    basis = Basis(n_items=n, n_raters=2, n_ratings=2 * n)
    brier, mae, sharpness = estimates(replicates, resampling, [basis] * 3, [None] * 3, scale="share")
    gaps = place_in_bins(items.score - items.label, place, bins)
    ece, plain = estimate_calibration_error(gaps, resampling, basis), compute_plain_error(gaps, resampling)
    edges = np.linspace(*scale, bins + 1).tolist()
    diagram = tuple(
        _bin(items, place == b, edges[b], edges[b + 1], scale, confidence) for b in np.unique(place).tolist()
    )
    return Reliability(ece, plain, brier, _in_units(mae, width), _in_units(sharpness, width), diagram, n, left_out)


@dataclass(frozen=True, eq=False)
class _Items:
    """Scores and labels (n,) on 0 … 1, with the weight and the cluster of each item."""

    score: FloatArray
    label: FloatArray
    weight: FloatArray
    clusters: tuple[str, ...] | None


def _contributions(items: _Items) -> FloatArray:
    """(n, 5) what each item adds: its squared and absolute error, its score and its square, and one."""
    p, gap = items.score, items.score - items.label
    return np.column_stack([gap**2, np.abs(gap), p, p**2, np.ones(len(p))])


def _measures(sums: FloatArray) -> FloatArray:
    """(…, 3) Brier score, absolute error and standard deviation of the scores for (…, 5) sums."""
    squared, absolute, first, second, total = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(ratio(second, total) - ratio(first, total) ** 2, 0.0))
    return np.stack([ratio(squared, total), ratio(absolute, total), spread], axis=-1)


def _in_units(found: Estimate, width: float, start: float = 0.0) -> Estimate:
    """A figure on 0 … 1 in units of a scale of this width."""
    ends = {name: start + width * getattr(found, name) for name in ("value", "low", "high")}
    return replace(found, **ends, se=width * found.se)


def _bin(
    items: _Items, inside: BoolArray, low: float, high: float, scale: tuple[float, float], confidence: float
) -> Bin:
    """A bin of the diagram, from ``low`` to ``high``: its mean label has Wilson's interval at the effective n."""
    start, width = scale[0], scale[1] - scale[0]
    label = estimate_clustered_share(
        items.label[inside],
        weights=items.weight[inside] if np.ptp(items.weight) > 0 else None,
        clusters=select_clusters(items.clusters, inside),
        confidence=confidence,
    )
    score = float(np.average(items.score[inside], weights=items.weight[inside]))
    return Bin(low, high, int(inside.sum()), start + width * score, _in_units(label, width, start))
