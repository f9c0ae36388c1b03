"""Prediction-powered inference: a few labels of people and many of the judge give one honest mean.

Angelopoulos et al. (2023), "Prediction-powered inference", Science 382:669-674; Angelopoulos, Duchi and Zrnic (2023),
"PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453. The judge's mean over the unlabelled items is
corrected by what it gets wrong on the labelled ones, and lambda says how far the judge is worth using at all: with
lambda 0 the estimate is that of the labels alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.resampling import PreparedSums, SumStatistic
from annotation.stats.table import FloatArray, check_numbers
from judging.stats.asymptotic import build_resampling, build_undefined, drop_interval, estimate_by_jackknife, few_units
from judging.stats.calibration_types import CorrectedDocument

NO_LABELS = "fewer than two items that both a person and the judge scored"
NO_UNLABELLED = "no unlabelled item that the judge scored"
CONSTANT = 1e-15
"""Below this variance a judge always says the same."""


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Items that a person and perhaps the judge scored, and items that only the judge scored.

    Attributes
    ----------
    human, judge
        (n,) scores of the labelled items; both are numbers.
    unlabelled
        (N,) the judge's scores of the others.
    weights, unlabelled_weights
        Survey weights, one over the inclusion probability; all 1 in a simple sample.
    clusters, unlabelled_clusters
        What is independent of each other (dialogue, profile), or None for the items themselves.
    """

    human: FloatArray
    judge: FloatArray
    unlabelled: FloatArray
    weights: FloatArray
    unlabelled_weights: FloatArray
    clusters: tuple[str, ...] | None = None
    unlabelled_clusters: tuple[str, ...] | None = None

    @classmethod
    def from_columns(
        cls,
        human: npt.ArrayLike,
        judge: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        clusters: Sequence[str] | None = None,
    ) -> "LabelledSample":
        """From columns over all items: NaN where a person (or the judge) gave no score.

        An item that the judge did not score takes no part: there is nothing to correct, and what the judge leaves
        unscored may differ from the rest; say how many there are.

        Raises
        ------
        ValueError
            If the columns differ in length, a weight is not positive and finite, or a number is beyond
            `annotation.stats.table.LARGEST`.
        """
        y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
        if not len(y) == len(f) == len(w) or (clusters is not None and len(clusters) != len(y)):
            raise ValueError("people, judge, weights and clusters need one entry per item")
        if not (np.isfinite(w).all() and (w > 0).all()):
            raise ValueError("weights must be positive and finite")
        check_numbers(y)
        check_numbers(f)
        both, rest = ~np.isnan(y) & ~np.isnan(f), np.isnan(y) & ~np.isnan(f)
        names = None if clusters is None else np.asarray(clusters, dtype=object)
        return cls(
            y[both],
            f[both],
            f[rest],
            w[both],
            w[rest],
            None if names is None else tuple(names[both]),
            None if names is None else tuple(names[rest]),
        )

    @property
    def n(self) -> int:
        """Number of labelled items."""
        return len(self.human)

    @property
    def n_unlabelled(self) -> int:
        """Number of items that only the judge scored."""
        return len(self.unlabelled)

    @property
    def all_clusters(self) -> tuple[str, ...] | None:
        """The clusters of the labelled and then the unlabelled items."""
        if self.clusters is None or self.unlabelled_clusters is None:
            return None
        return self.clusters + self.unlabelled_clusters


@dataclass(frozen=True)
class CorrectedMean:
    """A mean by three ways.

    Attributes
    ----------
    human_only
        From the labels alone: honest and wide.
    judge_only
        The judge's mean over all items it scored. Its interval knows nothing of the judge's errors: it says how
        far the judge's own mean is known, not how far it is right.
    ppi
        PPI++.
    weight
        lambda, from 0 (the judge is not used) to 1.
    effective_n
        The number of labels whose mean alone would have an interval as narrow as ``ppi``.
    saved
        ``effective_n`` minus the labels there are: what the judge is worth, in labels.
    correlation
        Of label and judge on the labelled items; NaN where either does not vary.
    human_error, ppi_error
        Standard errors of ``human_only`` and ``ppi``; NaN where there is none.
    influences
        By cluster, what it adds to the deviation of the three means (`compute_influences`); where they are compared.
    """

    human_only: Estimate
    judge_only: Estimate
    ppi: Estimate
    weight: float
    effective_n: float
    saved: float
    correlation: float = np.nan
    human_error: float = np.nan
    ppi_error: float = np.nan
    influences: Mapping[str, FloatArray] = field(default_factory=dict, compare=False)

    def to_json(self) -> CorrectedDocument:
        """The three figures as in the document of ``calibrate``."""
        return {
            "human_only": self.human_only.to_json(),
            "judge_only": self.judge_only.to_json(),
            "ppi": {
                **self.ppi.to_json(),
                "lambda": number_or_none(self.weight),
                "effective_n": number_or_none(self.effective_n),
                "effective_sample_size_gained": number_or_none(self.saved),
            },
        }


def ppi_mean(
    data: LabelledSample,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> CorrectedMean:
    """The mean score of all items by labels alone, by the judge alone and by PPI++; a rate is a mean of 0 and 1.

    The estimate is mean(Y - lambda f) over the labelled items plus lambda mean(f) over the others. Means are weighted
    by the survey weights. Intervals are Student's t from leaving out one item, or cluster, in turn: lambda is tuned
    anew without it, so that what tuning on few labels costs is in the interval. Labels too few for an interval of their
    own allow none here either.

    Parameters
    ----------
    data
        Labels and scores.
    weight
        lambda; by default the one that makes the interval narrowest, between 0 and 1 (`power_tuned`).
    confidence
        Nominal coverage.
    bounds
        Where the scale ends: intervals are cut there.

    Examples
    --------
    >>> human = [1, 1, 0, 0, 1, 0] + [float("nan")] * 4
    >>> judge = [1, 1, 0, 0, 1, 1, 1, 1, 0, 1]
    >>> round(ppi_mean(LabelledSample.from_columns(human, judge), weight=1).ppi.value, 3)
    0.583
    """
    human_only, human_error = _human_only(data, confidence, bounds)
    judge_only = _judge_only(data, confidence, bounds)
    why = NO_LABELS if data.n < 2 else NO_UNLABELLED if not data.n_unlabelled else None
    if why is not None:
        nothing = build_undefined(why, n_items=data.n + data.n_unlabelled, confidence=confidence)
        return CorrectedMean(human_only, judge_only, nothing, np.nan, np.nan, np.nan, _correlation(data), human_error)
    used = power_tuned(data) if weight is None else weight
    n, rest = data.n, data.n_unlabelled
    ppi, error = estimate_by_jackknife(
        SumStatistic(_contributions(data), partial(_corrected_mean, weight=weight)),
        clusters=data.all_clusters,
        strata=["labelled"] * n + ["unlabelled"] * rest,
        n_items=n + rest,
        confidence=confidence,
        bounds=bounds,
        n_ratings=2 * n + rest,
    )
    if np.isnan(human_only.low):
        ppi = drop_interval(ppi, human_only.reason)
    worth = data.n * (human_error / error) ** 2 if error > 0 and human_error > 0 else np.nan
    return CorrectedMean(
        human_only=human_only,
        judge_only=judge_only,
        ppi=ppi,
        weight=float(used),
        effective_n=float(worth),
        saved=float(worth - data.n),
        correlation=_correlation(data),
        human_error=human_error,
        ppi_error=error,
    )


def compute_influences(data: LabelledSample) -> dict[str, FloatArray]:
    """By cluster (3,) what it adds to the deviation of people's, the judge's and the corrected mean.

    Nothing without clusters. Without unlabelled items the corrected mean is people's.
    """
    if data.all_clusters is None:
        return {}
    resampling = build_resampling(data.n + data.n_unlabelled, data.all_clusters)
    prepared = PreparedSums.prepare([SumStatistic(_contributions(data), _three_means)], resampling)
    influence = np.nan_to_num(resampling.influence(prepared.evaluate_left_out()[0]))
    return dict(zip(sorted({str(name) for name in data.all_clusters}), influence, strict=True))


def power_tuned(data: LabelledSample) -> float:
    """lambda = cov(Y, f) / ((1 + n / N) var(f)), cut to 0 … 1; 0 where the judge is constant.

    The covariance is that of the labelled items (divided by n), the variance that of all of the judge's scores
    (divided by n + N - 1), as in the authors' implementation, so that the figures agree with it to the last digit.
    With unequal weights n and N are Kish's effective sizes. Any lambda keeps the estimate valid; this one is narrow.
    """
    return float(_lambda(_contributions(data).sum(axis=0)))


def _contributions(data: LabelledSample) -> FloatArray:
    """(n + N, 12) what each item adds: of the labelled 1, w, wy, wf, wyf, wff, ww, of the others 1, w, wf, wff, ww."""
    w, y, f = data.weights, data.human, data.judge
    v, g = data.unlabelled_weights, data.unlabelled
    labelled = np.column_stack([np.ones(len(w)), w, w * y, w * f, w * y * f, w * f**2, w**2])
    others = np.column_stack([np.ones(len(v)), v, v * g, v * g**2, v**2])
    return np.block([[labelled, np.zeros((len(w), others.shape[1]))], [np.zeros((len(v), labelled.shape[1])), others]])


def _lambda(sums: FloatArray) -> FloatArray:
    """(…,) lambda from sums (…, 12)."""
    n, w, wy, wf, wyf, wff, ww, n_rest, v, vg, vgg, vv = np.moveaxis(sums, -1, 0)
    total = n + n_rest
    centre = ratio(n * ratio(wf, w) + n_rest * ratio(vg, v), total)
    squares = n * ratio(wff, w) + n_rest * ratio(vgg, v) - total * centre**2
    variance = ratio(squares, total - 1)
    covariance = ratio(wyf, w) - ratio(wy, w) * ratio(wf, w)
    sizes = ratio(ratio(w**2, ww), ratio(v**2, vv))
    tuned = np.clip(ratio(covariance, (1 + sizes) * variance), 0.0, 1.0)
    constant: FloatArray = np.where(variance < CONSTANT, 0.0, tuned)
    return constant


def _corrected_mean(sums: FloatArray, *, weight: float | None) -> FloatArray:
    """(…, 1) the PPI++ estimate from sums (…, 12), with the given lambda or the tuned one."""
    _, w, wy, wf, _, _, _, _, v, vg, _, _ = np.moveaxis(sums, -1, 0)
    used = _lambda(sums) if weight is None else weight
    found: FloatArray = ratio(wy, w) + used * (ratio(vg, v) - ratio(wf, w))
    return found[..., None]


def _three_means(sums: FloatArray) -> FloatArray:
    """(…, 3) people's, the judge's and the corrected mean from sums (…, 12)."""
    _, w, wy, wf, _, _, _, _, v, vg, _, _ = np.moveaxis(sums, -1, 0)
    people, corrected = ratio(wy, w), _corrected_mean(sums, weight=None)[..., 0]
    return np.stack([people, ratio(wf + vg, w + v), np.where(v > 0, corrected, people)], axis=-1)


def _mean_of_sums(sums: FloatArray) -> FloatArray:
    return ratio(sums[..., :1], sums[..., 1:])


def _correlation(data: LabelledSample) -> float:
    """Weighted correlation of label and judge; NaN where either does not vary."""
    if data.n < 2:
        return np.nan
    y, f = data.human - _mean(data.human, data.weights), data.judge - _mean(data.judge, data.weights)
    spread = _mean(y**2, data.weights) * _mean(f**2, data.weights)
    return float(_mean(y * f, data.weights) / np.sqrt(spread)) if spread > 1e-24 else np.nan


def _mean(values: FloatArray, weights: FloatArray) -> float:
    return float((weights * values).sum() / weights.sum())


def _human_only(data: LabelledSample, confidence: float, bounds: tuple[float, float]) -> tuple[Estimate, float]:
    if data.n < 2:
        return build_undefined(NO_LABELS, n_items=data.n, confidence=confidence, n_raters=1), np.nan
    return _of_mean(data.human, data.weights, data.clusters, confidence, bounds)


def _judge_only(data: LabelledSample, confidence: float, bounds: tuple[float, float]) -> Estimate:
    scores = np.concatenate([data.judge, data.unlabelled])
    weights = np.concatenate([data.weights, data.unlabelled_weights])
    if not len(scores):
        return build_undefined("the judge scored no item", n_items=0, confidence=confidence, n_raters=1)
    return _of_mean(scores, weights, data.all_clusters, confidence, bounds)[0]


def _of_mean(
    values: FloatArray,
    weights: FloatArray,
    clusters: Sequence[str] | None,
    confidence: float,
    bounds: tuple[float, float],
) -> tuple[Estimate, float]:
    """A weighted mean with its interval, and its standard error."""
    statistic = SumStatistic(np.column_stack([weights * values, weights]), _mean_of_sums)
    found, error = estimate_by_jackknife(
        statistic, clusters=clusters, n_items=len(values), confidence=confidence, bounds=bounds, n_raters=1
    )
    return drop_interval(found, few_units(np.ones(len(values), dtype=bool), clusters, weights)), error
