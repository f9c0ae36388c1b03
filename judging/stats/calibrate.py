"""Everything that calibration says about a column of people's labels and a column of a judge's, as one result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.labels import Coder, Label, number_of
from annotation.stats.table import BoolArray, FloatArray, Level
from annotation.stats.warnings import StatWarning, interval_warnings
from judging.stats.calibration import LEAST, MapName, Recalibration, recalibrate
from judging.stats.prediction_powered import Corrected, Labelled, ppi_mean
from judging.stats.reliability import Reliability
from judging.stats.risk_coverage import RiskCoverage, risk_coverage
from judging.stats.rogan_gladen import RoganGladen, rogan_gladen
from judging.stats.selective import Selection, select

TARGETS = (0.8, 0.9, 0.95)
MANY_UNSCORED = 0.2
FEW_OF_A_KIND = 5


@dataclass(frozen=True, eq=False)
class Columns:
    """People's labels and a judge's, one entry per item; None (or NaN) where there is none.

    Attributes
    ----------
    human, judge
        (n,) labels. On a numeric scale the judge's may be any number (a mean of repeats, a probability); otherwise they
        lie on the scale.
    categories
        The scale of the labels, in order.
    level
        Of the scale. A nominal scale of more than two has no mean: its rates are given per category.
    confidence
        (n,) the judge's confidence in its verdict; higher is surer.
    weights
        (n,) survey weights.
    clusters
        (n,) dialogue, profile or pair of each item.
    """

    human: tuple[Label | None, ...]
    judge: tuple[Label | None, ...]
    categories: tuple[Label, ...]
    level: Level
    confidence: FloatArray | None = None
    weights: FloatArray | None = None
    clusters: tuple[str, ...] | None = None

    @property
    def binary(self) -> bool:
        """Whether the scale has two categories."""
        return len(self.categories) == 2

    @property
    def labelled(self) -> BoolArray:
        """(n,) where a person gave a label."""
        return np.array([label is not None for label in self.human], dtype=bool)

    @property
    def scored(self) -> BoolArray:
        """(n,) where the judge gave a verdict."""
        return np.array([label is not None for label in self.judge], dtype=bool)

    @property
    def scores(self) -> FloatArray:
        """(q,) number of each category: itself where all are numbers, 0 and 1 on another scale of two, else 1 … q."""
        numbers = [number_of(category) for category in self.categories]
        if all(number is not None for number in numbers):
            return np.array(numbers, dtype=float)
        return np.arange(0.0 if self.binary else 1.0, len(numbers) + (0 if self.binary else 1))

    @property
    def numeric(self) -> bool:
        """Whether the categories are numbers."""
        return all(number_of(category) is not None for category in self.categories)

    def numbers(self, labels: Sequence[Label | None]) -> FloatArray:
        """(n,) the labels as numbers, NaN where missing."""
        if self.numeric:
            return np.array([np.nan if x is None else number_of(x) for x in labels], dtype=float)
        coder, scores = Coder(self.categories), self.scores
        return np.array([np.nan if x is None else scores[coder.code(x)] for x in labels], dtype=float)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The result of `calibrate`.

    Attributes
    ----------
    n_labelled, n_unlabelled, unscored
        Items with a label; without; those of either kind without a verdict.
    estimand
        What the corrected figure is: a mean, or the rate of a category.
    mean
        It, by labels, by the judge, corrected; None on a nominal scale of more than two.
    by_category
        On any scale without a mean: the same for the rate of each category.
    rogan_gladen
        The cross-check on a scale of two; None otherwise.
    scores
        Recalibration; None on a nominal scale of more than two, or where it was not asked for.
    selective, curve
        Guarantees by target agreement, and the risk-coverage curve.
    warnings
        What to know before believing the figures.
    """

    n_labelled: int
    n_unlabelled: int
    unscored: int
    estimand: str
    mean: Corrected | None
    by_category: dict[str, Corrected]
    rogan_gladen: RoganGladen | None
    scores: Recalibration | None
    selective: tuple[Selection, ...]
    curve: RiskCoverage
    warnings: tuple[StatWarning, ...]

    def as_json(self) -> dict[str, Any]:
        """The document of the command ``calibrate``."""
        return {
            "n_labelled": self.n_labelled,
            "n_unlabelled": self.n_unlabelled,
            "unscored": self.unscored,
            "estimand": self.estimand,
            **_corrected_json(self.mean),
            "by_category": {name: one.as_json() for name, one in self.by_category.items()},
            "rogan_gladen": None if self.rogan_gladen is None else _rogan_json(self.rogan_gladen),
            "scores": None if self.scores is None else scores_json(self.scores),
            "selective": [_selection_json(one) for one in self.selective],
            "risk_coverage": self.curve.as_json(),
            "warnings": [warning.as_json() for warning in self.warnings],
        }


def calibrate(
    columns: Columns,
    *,
    positive: Label | None = None,
    method: MapName = "isotonic",
    targets: Sequence[float] = TARGETS,
    delta: float = 0.05,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    recalibrated: bool = True,
) -> Calibrated:
    """Correction, recalibration and selective judging of one judge on one criterion.

    Parameters
    ----------
    columns
        The labels.
    positive
        The category whose rate is estimated on a scale of two; by default the second of them.
    method
        Of recalibration.
    targets, delta
        Agreements to be guaranteed by selective judging, and the probability with which each may fail.
    bootstrap, confidence, seed
        Of the intervals, and of the folds.
    recalibrated
        Whether maps are fitted; without, ``scores`` is None.

    Raises
    ------
    ValueError
        If a label is not on the scale, or ``positive`` is no category.
    """
    human, judge, scale = columns.numbers(columns.human), columns.numbers(columns.judge), columns.scores
    estimand, target = _estimand(columns, positive)
    if target is not None:  # 1 where it is the category whose rate is asked for, 0 where it is the other
        other, width = scale[1 - target], scale[target] - scale[1 - target]
        human, judge, scale = ((column - other) / width for column in (human, judge, scale))
    has_mean = columns.binary or columns.level != "nominal"
    correct = {"confidence": confidence, "bounds": (float(scale.min()), float(scale.max()))}
    data = Labelled.of(human, judge, weights=columns.weights, clusters=columns.clusters)
    agrees, sure, verdict_is_known = _agreement(columns, human, judge, scale)
    known = verdict_is_known & columns.labelled
    mean = ppi_mean(data, **correct) if has_mean else None  # type: ignore[arg-type]
    by_category = {} if has_mean else _by_category(columns, human, judge, confidence)
    return Calibrated(
        n_labelled=int(columns.labelled.sum()),
        n_unlabelled=int((~columns.labelled).sum()),
        unscored=int((~columns.scored).sum()),
        estimand=estimand,
        mean=mean,
        by_category=by_category,
        rogan_gladen=_rogan(columns, human, judge, scale, confidence),
        scores=recalibrate(
            judge,
            human,
            np.sort(scale),
            method=method,
            clusters=columns.clusters,
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
        )
        if has_mean and recalibrated
        else None,
        selective=tuple(
            select(
                sure[known], agrees[known], target=at, delta=delta, unlabelled=sure[~columns.labelled], level=confidence
            )
            for at in targets
        ),
        curve=risk_coverage(sure[known], agrees[known], bootstrap=bootstrap, level=confidence, seed=seed),
        warnings=(*_warnings(columns, human, judge), *_interval_warnings(mean, by_category)),
    )


def _estimand(columns: Columns, positive: Label | None) -> tuple[str, int | None]:
    """What is estimated, in words, and which of two categories it is the rate of."""
    if not columns.binary:
        if positive is not None:
            raise ValueError("the rate of one category is asked for, and the scale has not two of them")
        return ("the mean score" if columns.level != "nominal" else "the rate of each category"), None
    if columns.level in ("interval", "ratio") and positive is None:
        return "the mean score", None
    place = 1 if positive is None else Coder(columns.categories).code(positive)
    return f"the rate of {columns.categories[place]}", place


def _agreement(
    columns: Columns, human: FloatArray, judge: FloatArray, scale: FloatArray
) -> tuple[BoolArray, FloatArray, BoolArray]:
    """Where the judge's verdict is the person's, its confidence, and where there is a verdict.

    A score between categories stands for the nearest one. On a scale of two its distance from the middle is the
    judge's confidence unless another is given; without any, all verdicts are equally sure.
    """
    known = ~np.isnan(judge)
    agrees = nearest(judge, scale) == nearest(human, scale)
    if columns.confidence is not None:
        sure = np.where(known, columns.confidence, np.nan)
    elif columns.binary:
        sure = np.abs(judge - scale.mean()) / np.ptp(scale) + 0.5
    else:
        sure = np.where(known, 1.0, np.nan)
    return agrees, sure, known


def nearest(values: FloatArray, scale: FloatArray) -> FloatArray:
    """(n,) the number of the scale (q,) next to each value; NaN stays NaN."""
    return np.where(np.isnan(values), np.nan, scale[np.abs(values[:, None] - scale).argmin(axis=1)])


def _by_category(columns: Columns, human: FloatArray, judge: FloatArray, confidence: float) -> dict[str, Corrected]:
    found = {}
    for name, score in zip(columns.categories, columns.scores, strict=True):
        y, f = (np.where(np.isnan(c), np.nan, (c == score).astype(float)) for c in (human, judge))
        data = Labelled.of(y, f, weights=columns.weights, clusters=columns.clusters)
        found[str(name)] = ppi_mean(data, confidence=confidence, bounds=(0.0, 1.0))
    return found


def _rogan(
    columns: Columns, human: FloatArray, judge: FloatArray, scale: FloatArray, confidence: float
) -> RoganGladen | None:
    """The cross-check where both sides say one of two things."""
    if not columns.binary or set(scale) != {0.0, 1.0} or not np.isin(judge[~np.isnan(judge)], (0, 1)).all():
        return None
    return rogan_gladen(human, judge, confidence=confidence)


def _warnings(columns: Columns, human: FloatArray, judge: FloatArray) -> Iterable[StatWarning]:
    both = columns.labelled & columns.scored
    n, unscored = int(both.sum()), float((~columns.scored).mean()) if len(columns.judge) else 0.0
    if n < LEAST:
        yield StatWarning("few_labels", f"Only {n} items have a label and a verdict; little can be said of the judge.")
    if unscored > 0:
        sentence = f"The judge left {int((~columns.scored).sum())} of {len(columns.judge)} items unscored."
        more = " What it leaves out may differ from the rest." if unscored > MANY_UNSCORED else ""
        yield StatWarning("unscored", f"{sentence} They take no part in any figure.{more}")
    if n and np.ptp(judge[both]) == 0:
        yield StatWarning("constant_judge", "The judge always says the same where people labelled: it tells nothing.")
    if n and np.ptp(human[both]) == 0:
        yield StatWarning("equal_labels", "Every label is the same: how far the judge errs on others cannot be told.")
    if both.all():
        yield StatWarning("no_unlabelled", "Every item has a label: there is nothing left to correct.")
    if columns.weights is not None and np.ptp(columns.weights) > 0:
        yield StatWarning(
            "unweighted",
            "Only the corrected means use the weights; what stands under scores, selective and the "
            "cross-check describes the items as they were drawn.",
        )
    if columns.confidence is None and not columns.binary:
        yield StatWarning("no_confidence", "No column of confidences: verdicts can be kept all together or not at all.")
    if columns.binary and n and np.ptp(human[both]) > 0:
        least = min(int((human[both] == value).sum()) for value in np.unique(human[both]))
        if least < FEW_OF_A_KIND:
            yield StatWarning(
                "rare_category",
                f"One category has {least} labels: intervals of its rate are unreliable; read them as a hint.",
            )


def _interval_warnings(mean: Corrected | None, by_category: Mapping[str, Corrected]) -> list[StatWarning]:
    """A warning about corrected figures that rest on few effective labels."""
    parts = {"": mean} if mean is not None else {f" of {name}": one for name, one in by_category.items()}
    found: dict[str, Estimate] = {}
    for name, one in parts.items():
        found |= {f"labels alone{name}": one.human_only, f"PPI++{name}": one.ppi}
    return interval_warnings(found)


def _corrected_json(mean: Corrected | None) -> dict[str, Any]:
    if mean is not None:
        return mean.as_json()
    reason = "a nominal scale of more than two categories has no mean; see by_category"
    nothing = {"value": None, "low": None, "high": None, "reason": reason}
    return {
        "human_only": nothing,
        "judge_only": nothing,
        "ppi": {**nothing, "lambda": None, "effective_n": None, "labels_saved": None},
    }


def _rogan_json(found: RoganGladen) -> dict[str, Any]:
    return {
        **found.rate.as_json(),
        "sensitivity": number_or_none(found.sensitivity.value),
        "specificity": number_or_none(found.specificity.value),
        "intervals": {"sensitivity": found.sensitivity.as_json(), "specificity": found.specificity.as_json()},
    }


def scores_json(found: Recalibration) -> dict[str, Any]:
    """The document under ``"scores"``."""
    return {**found.as_json(), "before": _reliability_json(found.before), "after": _reliability_json(found.after)}


def _reliability_json(found: Reliability) -> dict[str, Any]:
    """Plain numbers under the names of the contract, and their intervals beside them."""
    document = found.as_json()
    names = ("ece", "brier", "mae", "sharpness")
    return {
        **{name: document[name]["value"] for name in names},
        "intervals": {name: document[name] for name in names},
        "n": document["n"],
        "left_out": document["left_out"],
        "bins": document["bins"],
    }


def _selection_json(found: Selection) -> dict[str, Any]:
    document = found.as_json()
    return {
        **document,
        "coverage": document["coverage"]["value"],
        "agreement": document["agreement"]["value"],
        "intervals": {"coverage": document["coverage"], "agreement": document["agreement"]},
    }
