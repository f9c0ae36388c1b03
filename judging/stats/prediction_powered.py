"""Prediction-powered inference: a few labels of people and many of the judge give one honest mean.

Angelopoulos et al. (2023), "Prediction-powered inference", Science 382:669-674; Angelopoulos, Duchi and Zrnic (2023),
"PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453. The judge's mean over the unlabelled items is
corrected by what it gets wrong on the labelled ones, and lambda says how far the judge is worth using at all: with
lambda 0 the estimate is that of the labels alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import influence_error, normal, undefined

NO_LABELS = "fewer than two items that both a person and the judge scored"
NO_UNLABELLED = "no unlabelled item that the judge scored"


@dataclass(frozen=True, eq=False)
class Labelled:
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
    def of(
        cls,
        human: npt.ArrayLike,
        judge: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        clusters: Sequence[str] | None = None,
    ) -> "Labelled":
        """From columns over all items: NaN where a person (or the judge) gave no score.

        An item that the judge did not score takes no part: there is nothing to correct, and what the judge leaves
        unscored may differ from the rest; say how many there are.

        Raises
        ------
        ValueError
            If the columns differ in length or a weight is not positive and finite.
        """
        y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
        if not len(y) == len(f) == len(w) or (clusters is not None and len(clusters) != len(y)):
            raise ValueError("people, judge, weights and clusters need one entry per item")
        if not (np.isfinite(w).all() and (w > 0).all()):
            raise ValueError("weights must be positive and finite")
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
class Corrected:
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

    def as_json(self) -> dict[str, Any]:
        """The three figures as in the document of ``calibrate``."""
        more = {"lambda": self.weight, "effective_n": self.effective_n, "labels_saved": self.saved}
        return {
            "human_only": self.human_only.as_json(),
            "judge_only": self.judge_only.as_json(),
            "ppi": {**self.ppi.as_json(), **{key: number_or_none(value) for key, value in more.items()}},
        }


def ppi_mean(
    data: Labelled,
    *,
    weight: float | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Corrected:
    """The mean score of all items by labels alone, by the judge alone and by PPI++; a rate is a mean of 0 and 1.

    The estimate is mean(Y - lambda f) over the labelled items plus lambda mean(f) over the others. Means are weighted
    by the survey weights; intervals are normal, with the variance of both parts and of what clusters share.

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
    >>> round(ppi_mean(Labelled.of(human, judge), weight=1).ppi.value, 3)
    0.583
    """
    human_only, human_error = _human_only(data, confidence, bounds)
    judge_only = _judge_only(data, confidence, bounds)
    why = NO_LABELS if data.n < 2 else NO_UNLABELLED if not data.n_unlabelled else None
    if why is not None:
        nothing = undefined(why, n_items=data.n + data.n_unlabelled, confidence=confidence)
        return Corrected(human_only, judge_only, nothing, np.nan, np.nan, np.nan, _correlation(data), human_error)
    used = power_tuned(data) if weight is None else weight
    value = _mean(data.human - used * data.judge, data.weights) + used * _mean(data.unlabelled, data.unlabelled_weights)
    error = influence_error(_influence(data, used), data.all_clusters)
    n, rest = data.n, data.n_unlabelled
    ppi = normal(value, error, n_items=n + rest, confidence=confidence, bounds=bounds, n_ratings=2 * n + rest)
    worth = data.n * (human_error / error) ** 2 if error > 0 and human_error > 0 else np.nan
    return Corrected(
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


def power_tuned(data: Labelled) -> float:
    """lambda = cov(Y, f) / ((1 + n / N) var(f)), cut to 0 … 1; 0 where the judge is constant.

    The covariance is that of the labelled items (divided by n), the variance that of all of the judge's scores
    (divided by n + N - 1), as in the authors' implementation, so that the figures agree with it to the last digit.
    With unequal weights n and N are Kish's effective sizes. Any lambda keeps the estimate valid; this one is narrow.
    """
    scores = np.concatenate([data.judge, data.unlabelled])
    scale = np.concatenate(
        [data.weights / data.weights.mean(), data.unlabelled_weights / data.unlabelled_weights.mean()]
    )
    centre = _mean(scores, scale)
    variance = (scale * (scores - centre) ** 2).sum() / (len(scores) - 1)
    if variance < 1e-15:
        return 0.0
    y, f = data.human - _mean(data.human, data.weights), data.judge - _mean(data.judge, data.weights)
    covariance = _mean(y * f, data.weights)
    sizes = effective_size(data.weights) / effective_size(data.unlabelled_weights)
    return float(np.clip(covariance / ((1 + sizes) * variance), 0.0, 1.0))


def _correlation(data: Labelled) -> float:
    """Weighted correlation of label and judge; NaN where either does not vary."""
    if data.n < 2:
        return np.nan
    y, f = data.human - _mean(data.human, data.weights), data.judge - _mean(data.judge, data.weights)
    spread = _mean(y**2, data.weights) * _mean(f**2, data.weights)
    return float(_mean(y * f, data.weights) / np.sqrt(spread)) if spread > 1e-24 else np.nan


def effective_size(weights: FloatArray) -> float:
    """Kish's effective sample size, (sum w)^2 / sum w^2: the number of items where weights are equal."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _mean(values: FloatArray, weights: FloatArray) -> float:
    return float((weights * values).sum() / weights.sum())


def _share(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(n,) what each item adds to the deviation of a weighted mean."""
    influence: FloatArray = weights * (values - _mean(values, weights)) / weights.sum()
    return influence


def _influence(data: Labelled, weight: float) -> FloatArray:
    """(n + N,) what each item adds to the deviation of the PPI++ estimate."""
    return np.concatenate(
        [
            _share(data.human - weight * data.judge, data.weights),
            weight * _share(data.unlabelled, data.unlabelled_weights),
        ]
    )


def _human_only(data: Labelled, confidence: float, bounds: tuple[float, float]) -> tuple[Estimate, float]:
    if data.n < 2:
        return undefined(NO_LABELS, n_items=data.n, confidence=confidence, n_raters=1), np.nan
    error = influence_error(_share(data.human, data.weights), data.clusters)
    value = _mean(data.human, data.weights)
    return normal(value, error, n_items=data.n, confidence=confidence, bounds=bounds, n_raters=1), error


def _judge_only(data: Labelled, confidence: float, bounds: tuple[float, float]) -> Estimate:
    scores = np.concatenate([data.judge, data.unlabelled])
    weights = np.concatenate([data.weights, data.unlabelled_weights])
    if not len(scores):
        return undefined("the judge scored no item", n_items=0, confidence=confidence, n_raters=1)
    error = influence_error(_share(scores, weights), data.all_clusters)
    return normal(_mean(scores, weights), error, n_items=len(scores), confidence=confidence, bounds=bounds, n_raters=1)
