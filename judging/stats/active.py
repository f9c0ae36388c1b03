"""The mean of all items where some were labelled because the judge was in doubt: every label by its known probability.

Zrnic and Candes (2024), "Active Statistical Inference", arXiv 2403.03208, with the lambda of PPI++ (Angelopoulos, Duchi
and Zrnic 2023, arXiv 2311.01453) and the weights of Hajek (1971), so that a draw that is labelled in part only, in an
order that has nothing to do with the labels, counts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import influence_error, normal, undefined

LEAST = 2
"""Labels of drawn items below which there is no figure."""


@dataclass(frozen=True)
class Active:
    """A mean by three ways.

    Attributes
    ----------
    human_only, judge_only, corrected
        By labels alone, each weighted by its probability; by the judge on all items; and by both.
    weight
        lambda, from 0 (the judge is not used) to 1.
    n_before, n_drawn, n_labelled
        Items with a label before the draw, items drawn, and those of them with a label by now.
    """

    human_only: Estimate
    judge_only: Estimate
    corrected: Estimate
    weight: float
    n_before: int
    n_drawn: int
    n_labelled: int

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "human_only": self.human_only.as_json(),
            "judge_only": self.judge_only.as_json(),
            "corrected": {**self.corrected.as_json(), "lambda": number_or_none(self.weight)},
            "before": self.n_before,
            "drawn": self.n_drawn,
            "labelled": self.n_labelled,
        }


@dataclass(frozen=True, eq=False)
class Drawn:
    """All n items that the judge scored.

    Attributes
    ----------
    human, judge
        (n,) labels, NaN where there is none, and the judge's scores.
    probability
        (n,) with which each item was drawn to be labelled; NaN for those that had a label before.
    taken
        (n,) whether it was drawn.
    weights, clusters
        (n,) one over the probability of being an item of the study, and what depends on each other, or None.
    """

    human: FloatArray
    judge: FloatArray
    probability: FloatArray
    taken: BoolArray
    weights: FloatArray
    clusters: Sequence[str] | None = None

    @property
    def open(self) -> BoolArray:
        """(n,) items that could be drawn."""
        return ~np.isnan(self.probability)

    @property
    def done(self) -> BoolArray:
        """(n,) drawn items with a label by now."""
        return np.asarray(self.taken & ~np.isnan(self.human) & self.open)


def active_mean(
    data: Drawn,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Active:
    """The mean of all items.

    With y the label, f the judge's score, p the probability and r = y - lambda f: the labels there were, and for the
    items that could be drawn lambda f plus the mean of r over those drawn, weighted by 1 / p. Whatever lambda, the
    estimate is that of the labels of all items, up to the draw; the one used makes the interval narrowest.
    """
    before, done = ~data.open & ~np.isnan(data.human), data.done
    counts = (int(before.sum()), int(data.taken.sum()), int(done.sum()))
    used = before | data.open
    judge_only = _plain(data.judge[used], data, used, confidence, bounds)
    if counts[2] < LEAST:
        nothing = undefined(
            f"{counts[2]} of the drawn items have a label so far", n_items=sum(counts), confidence=confidence
        )
        return Active(nothing, judge_only, nothing, np.nan, *counts)
    fixed, slope = _parts(data, before, done)
    best = _narrowest(fixed[used], slope[used], data.weights[used]) if weight is None else weight
    alone = _plain(fixed[used], data, used, confidence, bounds)
    both = _plain((fixed + best * slope)[used], data, used, confidence, bounds)
    return Active(alone, judge_only, both, best, *counts)


def _parts(data: Drawn, before: BoolArray, done: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(n,) values whose weighted mean is the estimate: without the judge, and what lambda adds."""
    w, y, f = data.weights, data.human, data.judge
    pull = np.zeros(len(w))
    pull[done] = 1 / data.probability[done]
    share = w * pull / (w * pull).sum()
    mean_y, mean_f = float((share[done] * y[done]).sum()), float((share[done] * f[done]).sum())
    # each drawn item stands for others: its residual counts as often as the items it stands for weigh
    stands = np.where(done, pull * w[data.open].sum() / (w * pull).sum(), 0.0)
    fixed = np.where(before, y, mean_y + stands * np.where(done, y - mean_y, 0.0))
    slope = np.where(before, 0.0, f - mean_f - stands * np.where(done, f - mean_f, 0.0))
    return fixed, slope


def _narrowest(fixed: FloatArray, slope: FloatArray, weights: FloatArray) -> float:
    """lambda, from 0 to 1, with the least sum of squared influences."""
    a = weights * (fixed - np.average(fixed, weights=weights))
    b = weights * (slope - np.average(slope, weights=weights))
    squares = float((b**2).sum())
    return float(np.clip(-(a * b).sum() / squares, 0.0, 1.0)) if squares > 1e-24 else 0.0


def _plain(
    values: FloatArray, data: Drawn, used: BoolArray, confidence: float, bounds: tuple[float, float]
) -> Estimate:
    """A weighted mean with its interval."""
    if not len(values):
        return undefined("there are no items", n_items=0, confidence=confidence)
    w = data.weights[used]
    value = float(np.average(values, weights=w))
    names = None if data.clusters is None else [name for name, kept in zip(data.clusters, used, strict=True) if kept]
    error = influence_error(w * (values - value) / w.sum(), names)
    return normal(value, error, n_items=len(values), confidence=confidence, bounds=bounds)
