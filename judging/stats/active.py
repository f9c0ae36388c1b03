"""The mean of all items where some were labelled because the judge was in doubt: every label by its known probability.

Zrnic and Candes (2024), "Active Statistical Inference", arXiv 2403.03208, with the lambda of PPI++ (Angelopoulos, Duchi
and Zrnic 2023, arXiv 2311.01453) and the weights of Hajek (1971), so that a draw that is labelled in part only, in an
order that has nothing to do with the labels, counts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.resampling import PreparedSums, SumStatistic
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import build_resampling, build_undefined, drop_interval, estimate_by_jackknife, few_units
from judging.stats.result_types import ActiveMeanDocument

LEAST = 2
"""Labels of drawn items below which there is no figure."""


@dataclass(frozen=True)
class ActiveMean:
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

    def to_json(self) -> ActiveMeanDocument:
        """As JSON types."""
        return {
            "human_only": self.human_only.to_json(),
            "judge_only": self.judge_only.to_json(),
            "corrected": {**self.corrected.to_json(), "lambda": number_or_none(self.weight)},
            "before": self.n_before,
            "drawn": self.n_drawn,
            "labelled": self.n_labelled,
        }


@dataclass(frozen=True, eq=False)
class ScoredSample:
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
    data: ScoredSample,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> ActiveMean:
    """The mean of all items.

    With y the label, f the judge's score, p the probability and r = y - lambda f: the labels there were, and for the
    items that could be drawn lambda f plus the mean of r over those drawn, weighted by 1 / p. Whatever lambda, the
    estimate is that of the labels of all items, up to the draw; the one used makes the interval narrowest. Intervals
    are Student's t from leaving out one item, or cluster, in turn; labels of too few allow none.
    """
    before, done = ~data.open & ~np.isnan(data.human), data.done
    counts = (int(before.sum()), int(data.taken.sum()), int(done.sum()))
    used = before | data.open
    clusters = None if data.clusters is None else np.asarray(data.clusters, dtype=object)[used].tolist()
    estimate = partial(
        estimate_by_jackknife, clusters=clusters, n_items=int(used.sum()), confidence=confidence, bounds=bounds
    )
    if not used.any():
        nothing = build_undefined("there are no items", n_items=0, confidence=confidence)
        return ActiveMean(nothing, nothing, nothing, np.nan, *counts)
    scores = np.column_stack([data.weights * data.judge, data.weights])[used]
    judge_only = estimate(SumStatistic(scores, lambda sums: ratio(sums[..., :1], sums[..., 1:])))[0]
    if counts[2] < LEAST:
        nothing = build_undefined(
            f"{counts[2]} of the drawn items have a label so far", n_items=sum(counts), confidence=confidence
        )
        return ActiveMean(nothing, judge_only, nothing, np.nan, *counts)
    sums = _contributions(data, before, done)[used]
    sums = np.column_stack([sums, _products(sums, clusters)])
    best = float(_narrowest(sums.sum(axis=0))) if weight is None else weight
    why = few_units(before | done, data.clusters, data.weights)
    alone, both = (drop_interval(estimate(SumStatistic(sums, partial(_mean, at)))[0], why) for at in (0.0, weight))
    return ActiveMean(alone, judge_only, both, best, *counts)


def _contributions(data: ScoredSample, before: BoolArray, done: BoolArray) -> FloatArray:
    """(n, 7) what each item adds: w, wy of labels there were; w, wf of what could be drawn; w / p, wy / p, wf / p."""
    w, y, f = data.weights, np.nan_to_num(data.human), np.nan_to_num(data.judge)
    pull = np.zeros(len(w))
    pull[done] = w[done] / data.probability[done]
    there, could = w * before, w * data.open
    return np.column_stack([there, there * y, could, could * f, pull, pull * y, pull * f])


def _split_estimate(sums: FloatArray) -> FloatArray:
    """(…, 2) from sums (…, 7 or more) the estimate without the judge, and what lambda adds to it."""
    there, label, could, score, pull, drawn_label, drawn_score = np.moveaxis(sums[..., :7], -1, 0)
    by_labels = label + could * ratio(drawn_label, pull)
    by_judge = score - could * ratio(drawn_score, pull)
    return np.stack([ratio(by_labels, there + could), ratio(by_judge, there + could)], axis=-1)


def _mean(weight: float | None, sums: FloatArray) -> FloatArray:
    """(…, 1) the estimate with this lambda; None for the one that the sums say."""
    parts = _split_estimate(sums)
    used = _narrowest(sums) if weight is None else np.full(sums.shape[:-1], weight)
    found: FloatArray = parts[..., :1] + used[..., None] * parts[..., 1:]
    return found


def _products(sums: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """(n, 2) what items, or clusters in equal parts, add to the sums of products that `_narrowest` needs: of their
    influences on the estimate without the judge and on what lambda adds, and of the latter squared."""
    resampling = build_resampling(len(sums), clusters)
    without = PreparedSums.prepare([SumStatistic(sums, _split_estimate)], resampling).evaluate_left_out()[0]
    known = np.asarray(np.isfinite(without).all(axis=1))
    if not known.any():
        return np.zeros((len(sums), 2))
    centred = np.where(known[:, None], without - without[known].mean(axis=0), 0.0)
    products = centred * centred[:, 1:]
    return (products / np.bincount(resampling.unit)[:, None])[resampling.unit]


def _narrowest(sums: FloatArray) -> FloatArray:
    """(…) lambda, from 0 to 1, with the least sum of squared influences of items or clusters."""
    return np.clip(np.nan_to_num(-ratio(sums[..., -2], sums[..., -1], tiny=1e-24)), 0.0, 1.0)
