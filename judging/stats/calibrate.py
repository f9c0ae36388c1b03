"""Everything that calibration says about a column of people's labels and a column of a judge's, as one result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.labels import Coder, Label, parse_number
from annotation.stats.result_types import EstimateDocument
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, Level
from annotation.stats.warnings import StatWarning, interval_warnings
from judging.stats.calibration import LEAST, MapName, Recalibration, recalibrate
from judging.stats.calibration_types import CalibrationFiguresDocument, CorrectedDocument
from judging.stats.label_shares import compute_agreement, nearest_shares
from judging.stats.prediction_powered import CorrectedMean, LabelledSample, ppi_mean
from judging.stats.risk_coverage import RiskCoverage, risk_coverage
from judging.stats.rogan_gladen import RoganGladen, rogan_gladen
from judging.stats.sample_size_gained import sample_size_gained
from judging.stats.selective import Selection, select

TARGETS = (0.8, 0.9, 0.95)
MANY_UNSCORED = 0.2
FEW_OF_A_KIND = 5

Labels = Label | tuple[Label, ...] | None
"""One label, several between which people are tied, or none."""


@dataclass(frozen=True, eq=False)
class Columns:
    """People's labels and a judge's, one entry per item; None (or NaN) where there is none.

    Attributes
    ----------
    human, judge
        (n,) labels; of people several, as a tuple, where they are tied. On a numeric scale people's and the judge's may
        be any number (a mean, a probability); otherwise they lie on the scale.
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
    votes
        (n, q) share of the people who chose each category, NaN where nobody did; None where that is not known.
    """

    human: tuple[Labels, ...]
    judge: tuple[Label | None, ...]
    categories: tuple[Label, ...]
    level: Level
    confidence: FloatArray | None = None
    weights: FloatArray | None = None
    clusters: tuple[str, ...] | None = None
    votes: FloatArray | None = None

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

    @cached_property
    def scores(self) -> FloatArray:
        """(q,) number of each category: itself where all are numbers, 0 and 1 on another scale of two, else 1 … q."""
        numbers = [parse_number(category) for category in self.categories]
        if all(number is not None for number in numbers):
            return np.array(numbers, dtype=float)
        return np.arange(0.0 if self.binary else 1.0, len(numbers) + (0 if self.binary else 1))

    @cached_property
    def numeric(self) -> bool:
        """Whether the categories are numbers."""
        return all(parse_number(category) is not None for category in self.categories)

    def numbers(self, labels: Sequence[Labels]) -> FloatArray:
        """(n,) the labels as numbers, of a tie their mean; NaN where missing."""
        coder, scores = Coder(self.categories), self.scores

        def number(label: Labels) -> float:
            if isinstance(label, tuple):
                return float(np.mean([number(one) for one in label]))
            found = parse_number(label) if self.numeric and label is not None else None
            return found if found is not None else np.nan if label is None else float(scores[coder.code(label)])

        known = {label: number(label) for label in set(labels)}
        return np.array([known[label] for label in labels], dtype=float)

    @property
    def verdicts(self) -> IntArray:
        """(n,) place of the category next to each of the judge's labels; -1 without one."""
        numbers = self.numbers(self.judge)
        return np.where(
            np.isnan(numbers), MISSING, np.abs(np.nan_to_num(numbers)[:, None] - self.scores).argmin(axis=1)
        )

    @property
    def label_shares(self) -> FloatArray:
        """(n, q) share of each category in people's label; NaN without one."""
        coder, ties = Coder(self.categories), [isinstance(label, tuple) for label in self.human]
        alone = [None if isinstance(label, tuple) else label for label in self.human]
        shares = nearest_shares(self.numbers(alone), self.scores)
        for row in np.flatnonzero(ties):
            shares[row] = 0.0
            shares[row, [coder.code(label) for label in self.human[row]]] = 1 / len(self.human[row])  # type: ignore[union-attr, arg-type]
        return shares


@dataclass(frozen=True, eq=False)
class CalibrationResult:
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
    gained
        Effective sample size gained by PPI++, as a share of the labels.
    selective, curve
        Guarantees by target agreement, and the risk-coverage curve.
    warnings
        What to know before believing the figures.
    """

    n_labelled: int
    n_unlabelled: int
    unscored: int
    estimand: str
    mean: CorrectedMean | None
    by_category: dict[str, CorrectedMean]
    rogan_gladen: RoganGladen | None
    scores: Recalibration | None
    gained: Estimate
    selective: tuple[Selection, ...]
    curve: RiskCoverage
    warnings: tuple[StatWarning, ...]

    def to_json(self) -> CalibrationFiguresDocument:
        """The document of the command ``calibrate``."""
        return {
            "n_labelled": self.n_labelled,
            "n_unlabelled": self.n_unlabelled,
            "unscored": self.unscored,
            "estimand": self.estimand,
            **_corrected_json(self.mean),
            "by_category": {name: one.to_json() for name, one in self.by_category.items()},
            "rogan_gladen": None if self.rogan_gladen is None else self.rogan_gladen.to_json(),
            "scores": None if self.scores is None else self.scores.to_json(),
            "gained": self.gained.to_json(),
            "selective": [one.to_json() for one in self.selective],
            "risk_coverage": self.curve.to_json(),
            "warnings": [warning.to_json() for warning in self.warnings],
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
) -> CalibrationResult:
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
    bounds = (float(scale.min()), float(scale.max()))
    parts = {"": (human, judge)} if has_mean else _by_category(columns)
    data = {
        name: LabelledSample.from_columns(*one, weights=columns.weights, clusters=columns.clusters)
        for name, one in parts.items()
    }
    corrected = {
        name: ppi_mean(one, confidence=confidence, bounds=bounds if has_mean else (0.0, 1.0))
        for name, one in data.items()
    }
    sure, verdicts = _confidence(columns, judge, scale), columns.verdicts
    agreement = compute_agreement(columns.label_shares, verdicts)
    clusters, weights = columns.clusters, columns.weights
    return CalibrationResult(
        n_labelled=int(columns.labelled.sum()),
        n_unlabelled=int((~columns.labelled).sum()),
        unscored=int((~columns.scored).sum()),
        estimand=estimand,
        mean=corrected.get(""),
        by_category={} if has_mean else corrected,
        rogan_gladen=_rogan(columns, human, judge, scale, confidence),
        scores=recalibrate(
            judge,
            human,
            np.sort(scale),
            method=method,
            clusters=clusters,
            weights=weights,
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
        )
        if has_mean and recalibrated
        else None,
        gained=sample_size_gained([(data[name], corrected[name]) for name in data], confidence=confidence),
        selective=tuple(
            select(
                sure,
                agreement,
                target=at,
                delta=delta,
                person=None if columns.votes is None else compute_agreement(columns.votes, verdicts),
                level=confidence,
                clusters=clusters,
                weights=weights,
            )
            for at in targets
        ),
        curve=risk_coverage(
            sure, agreement, bootstrap=bootstrap, level=confidence, seed=seed, clusters=clusters, weights=weights
        ),
        warnings=(*_warnings(columns, human, judge), *_interval_warnings(corrected)),
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


def _confidence(columns: Columns, judge: FloatArray, scale: FloatArray) -> FloatArray:
    """(n,) how sure the judge is of its verdict; NaN without one.

    On a scale of two a score's distance from the middle is the judge's confidence unless another is given; without
    any, all verdicts are equally sure.
    """
    if columns.confidence is not None:
        return np.where(np.isnan(judge), np.nan, columns.confidence)
    if columns.binary:
        return np.asarray(np.abs(judge - scale.mean()) / np.ptp(scale) + 0.5)
    return np.where(np.isnan(judge), np.nan, 1.0)


def _by_category(columns: Columns) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By category, (n,) its share of people's label, and whether the verdict is it; NaN where there is none."""
    shares, verdicts = columns.label_shares, columns.verdicts
    return {
        str(name): (shares[:, code], np.where(verdicts == MISSING, np.nan, (verdicts == code).astype(float)))
        for code, name in enumerate(columns.categories)
    }


def _rogan(
    columns: Columns, human: FloatArray, judge: FloatArray, scale: FloatArray, confidence: float
) -> RoganGladen | None:
    """The cross-check where both sides say one of two things; a tie says neither."""
    if not columns.binary or set(scale) != {0.0, 1.0} or not np.isin(judge[~np.isnan(judge)], (0, 1)).all():
        return None
    return rogan_gladen(
        np.where(np.isin(human, (0, 1)), human, np.nan),
        judge,
        weights=columns.weights,
        clusters=columns.clusters,
        confidence=confidence,
    )


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
    if columns.confidence is None and not columns.binary:
        yield StatWarning(
            "no_confidence",
            "The judge has no confidence: its verdicts can only be accepted all together or not at all.",
        )
    if columns.binary and n and np.ptp(human[both]) > 0:
        least = min(int((human[both] == value).sum()) for value in (human[both].min(), human[both].max()))
        if least < FEW_OF_A_KIND:
            yield StatWarning(
                "rare_category",
                f"One category has {least} labels: intervals of its rate are unreliable; read them as a hint.",
            )


def _interval_warnings(corrected: Mapping[str, CorrectedMean]) -> list[StatWarning]:
    """A warning about corrected figures that rest on few effective labels; the name of a mean is empty."""
    found: dict[str, Estimate] = {}
    for category, one in corrected.items():
        rate = f"rate of {category} by " if category else ""
        found |= {f"{rate}labels alone": one.human_only, f"{rate}PPI++": one.ppi}
    return interval_warnings(found)


def _corrected_json(mean: CorrectedMean | None) -> CorrectedDocument:
    if mean is not None:
        return mean.to_json()
    reason = "a nominal scale of more than two categories has no mean; see by_category"
    nothing: EstimateDocument = {"value": None, "low": None, "high": None, "reason": reason}
    return {
        "human_only": nothing,
        "judge_only": nothing,
        "ppi": {**nothing, "lambda": None, "effective_n": None, "effective_sample_size_gained": None},
    }
