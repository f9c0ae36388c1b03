"""How far a score says what people say: reliability diagram, ECE, Brier score, absolute error, sharpness.

Brier (1950), Monthly Weather Review 78:1-3; DeGroot and Fienberg (1983), The Statistician 32:12-22 (reliability and
sharpness); Naeini, Cooper and Hauskrecht (2015), AAAI (expected calibration error). For a scale of more than two steps
the same is asked of the mean: scores and labels are mapped to 0 … 1 by the ends of the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray, IntArray
from judging.stats.asymptotic import figure, undefined, wilson
from judging.stats.redraw import drawn, percentile, summed, units

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Items whose score lies from ``low`` to ``high``: their mean score, and what people say of them on average."""

    low: float
    high: float
    n: int
    score: float
    human: Estimate

    def as_json(self) -> dict[str, Any]:
        """A point of the reliability diagram as JSON types."""
        return {"low": self.low, "high": self.high, "n": self.n, "score": self.score, "human": self.human.as_json()}


@dataclass(frozen=True)
class Reliability:
    """Scores beside people's labels.

    Attributes
    ----------
    ece
        Expected calibration error: mean over items of the distance between a bin's mean score and its mean label, on
        the scale of 0 … 1. Its value is biased upwards where bins are small.
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
    brier: Estimate
    mae: Estimate
    sharpness: Estimate
    bins: tuple[Bin, ...]
    n: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """The figures and the diagram as JSON types."""
        figures = {name: getattr(self, name).as_json() for name in ("ece", "brier", "mae", "sharpness")}
        return {**figures, "n": self.n, "left_out": self.left_out, "bins": [one.as_json() for one in self.bins]}


def reliability(
    scores: npt.ArrayLike,
    human: npt.ArrayLike,
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    bins: int = BINS,
    clusters: Sequence[str] | None = None,
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
    clusters
        What is resampled together.
    bootstrap, confidence, seed
        Of the percentile intervals.

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
        nothing = undefined("fewer than two labelled items with a score", n_items=n, confidence=confidence)
        return Reliability(nothing, nothing, nothing, nothing, (), n, left_out)
    width = scale[1] - scale[0]
    unit_p, unit_y = (p[both] - scale[0]) / width, (y[both] - scale[0]) / width
    place = np.clip((unit_p * bins).astype(np.int64), 0, bins - 1)
    names = None if clusters is None else tuple(np.asarray(clusters, dtype=object)[both])
    unit = units(n, names)
    sums = summed(_contributions(unit_p, unit_y, place, bins), unit)
    values = _measures(sums.sum(axis=0, keepdims=True), bins)[0]
    blocks = [_measures(times @ sums, bins) for times in drawn(len(sums), replicates=bootstrap, seed=seed)]
    replicates = np.vstack(blocks) if blocks else np.zeros((0, 4))
    ece, brier, mae, sharpness = (
        percentile(float(value), column, n_items=n, n_units=len(sums), confidence=confidence, seed=seed)
        for value, column in zip(values * [1, 1, width, width], (replicates * [1, 1, width, width]).T, strict=True)
    )
    diagram = _diagram(p[both], y[both], place, bins, scale, confidence)
    return Reliability(ece, brier, mae, sharpness, tuple(diagram), n, left_out)


def _contributions(p: FloatArray, y: FloatArray, place: IntArray, bins: int) -> FloatArray:
    """(n, bins + 5) what each item adds: its gap to its bin, its squared and absolute error, its score and its square,
    and one."""
    gap = p - y
    by_bin = np.zeros((len(p), bins))
    by_bin[np.arange(len(p)), place] = gap
    return np.column_stack([by_bin, gap**2, np.abs(gap), p, p**2, np.ones(len(p))])


def _measures(sums: FloatArray, bins: int) -> FloatArray:
    """(b, 4) ECE, Brier score, absolute error and standard deviation of the scores for (b, bins + 5) sums."""
    gap = np.abs(sums[:, :bins]).sum(axis=1)
    squared, absolute, first, second, total = sums[:, bins:].T
    spread = np.sqrt(np.maximum(ratio(second, total) - ratio(first, total) ** 2, 0.0))
    return np.column_stack([ratio(gap, total), ratio(squared, total), ratio(absolute, total), spread])


def _diagram(
    p: FloatArray, y: FloatArray, place: IntArray, bins: int, scale: tuple[float, float], confidence: float
) -> list[Bin]:
    edges = np.linspace(*scale, bins + 1)
    found = []
    for b in np.unique(place).tolist():
        inside = place == b
        human = _mean_label(y[inside], scale, confidence)
        found.append(Bin(float(edges[b]), float(edges[b + 1]), int(inside.sum()), float(p[inside].mean()), human))
    return found


def _mean_label(labels: FloatArray, scale: tuple[float, float], confidence: float) -> Estimate:
    """Mean label of a bin with the interval of a share: a bounded label varies at most as a yes or no does."""
    width = scale[1] - scale[0]
    low, high = wilson(float((labels.mean() - scale[0]) / width), len(labels), confidence)
    ends = (scale[0] + width * low, scale[0] + width * high)
    return figure(float(labels.mean()), ends, n_items=len(labels), confidence=confidence, method="Wilson", n_raters=1)
