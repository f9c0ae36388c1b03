"""The same figures once more, by the libraries krippendorff and scikit-learn.

Concord computes its figures itself, because intervals need thousands of replicates. A slip in a figure would pass
unseen. So results recompute each figure that one of these libraries has, and print the largest difference.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.majority import majority
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import positions
from judging.stats.agreement import JudgeAgreement
from judging.stats.calibration import Isotonic
from judging.stats.reliability import Reliability

KRIPPENDORFF, SCIKIT_LEARN = "krippendorff", "scikit-learn"
SAME = 1e-9
"""A larger difference is no rounding: one of the two is wrong."""


@dataclass(frozen=True)
class Recomputed:
    """One figure: its name, Concord's value, the library and what it says."""

    figure: str
    value: float
    library: str
    other: float

    @property
    def difference(self) -> float:
        """Absolute difference; 0 where both are undefined, infinite where only one is."""
        if np.isnan(self.value) or np.isnan(self.other):
            return 0.0 if np.isnan(self.value) and np.isnan(self.other) else np.inf
        return abs(self.value - self.other)

    def as_json(self) -> dict[str, Any]:
        """The figure as JSON types."""
        return {
            "figure": self.figure,
            "value": number_or_none(self.value),
            "library": self.library,
            "other": number_or_none(self.other),
        }


@dataclass(frozen=True)
class SecondOpinion:
    """All figures of a result that a library has as well."""

    figures: tuple[Recomputed, ...]

    @property
    def largest(self) -> Recomputed | None:
        """The figure on which Concord and a library differ most; None where nothing was recomputed."""
        return max(self.figures, key=lambda one: one.difference, default=None)

    @property
    def agrees(self) -> bool:
        """Whether no difference is more than rounding."""
        return all(one.difference <= SAME for one in self.figures)

    def describe(self) -> str:
        """One sentence for page, report and certificate."""
        worst = self.largest
        if worst is None:
            return "No figure was recomputed: there is none that another library has."
        libraries = " and ".join(sorted({one.library for one in self.figures}))
        said = f"{len(self.figures)} figures recomputed with {libraries}; largest difference {worst.difference:.1e}"
        return f"{said}." if self.agrees else f"{said} ({worst.figure}): do not trust these figures, and report this."

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON types; the figures themselves only where they differ."""
        worst = self.largest
        return {
            "recomputed": len(self.figures),
            "libraries": sorted({one.library for one in self.figures}),
            "largest_difference": None if worst is None else number_or_none(worst.difference),
            "agrees": self.agrees,
            "message": self.describe(),
            "different": [one.as_json() for one in self.figures if one.difference > SAME],
        }


def recompute(
    people: RatingTable,
    codes: IntArray,
    found: JudgeAgreement,
    *,
    scores: FloatArray | None = None,
    labels: FloatArray | None = None,
    reliability: Reliability | None = None,
    isotonic: Isotonic | None = None,
) -> SecondOpinion:
    """Recompute a judge's figures.

    Parameters
    ----------
    people, codes
        The annotators' ratings and the judge's (n_items,) codes, -1 where missing, that ``found`` was computed from.
    found
        The judge's agreement with people.
    scores, labels
        (n,) the judge's scores and people's labels that ``reliability`` and ``isotonic`` were computed from.
    """
    figures = [*_alpha(people), *_kappas(people, codes, found), *_of_majority(people, codes, found)]
    if scores is not None and labels is not None:
        both = ~np.isnan(scores) & ~np.isnan(labels)
        figures += [] if reliability is None else _errors(scores[both], labels[both], reliability)
        figures += [] if isotonic is None else _steps(scores[both], labels[both], isotonic)
    return SecondOpinion(tuple(figures))


def _alpha(people: RatingTable) -> Iterator[Recomputed]:
    """Krippendorff's alpha; the library knows no weights of items."""
    import krippendorff

    if people.weights is not None or not _varies(people.codes[people.pairable]):
        return
    data = np.where(people.codes == MISSING, np.nan, people.codes.astype(float)).T
    if people.level in ("interval", "ratio"):
        data = np.where(np.isnan(data), np.nan, people.scores[people.codes.T])
    domain = people.scores if people.level in ("interval", "ratio") else np.arange(float(people.n_categories))
    own = float(krippendorff_alpha(people).at(np.ones((1, people.n_items)))[0, 0])
    other = krippendorff.alpha(reliability_data=data, value_domain=np.unique(domain), level_of_measurement=people.level)
    yield Recomputed("krippendorff_alpha", own, KRIPPENDORFF, float(other))


def _varies(codes: IntArray) -> bool:
    used = codes[codes != MISSING]
    return bool(used.size) and bool(np.ptp(used) > 0)


def _kappas(people: RatingTable, codes: IntArray, found: JudgeAgreement) -> Iterator[Recomputed]:
    """The judge's kappas with each annotator, and their share of equal verdicts."""
    from sklearn.metrics import accuracy_score

    weights = _weights(people)
    for pair in found.per_annotator:
        column = people.codes[:, people.raters.index(pair.b)]
        both = (codes != MISSING) & (column != MISSING)
        a, b, w = codes[both], column[both], weights[both]
        name = f"with {pair.b}"
        yield _sklearn(f"percent_agreement {name}", pair.percent_agreement.value, accuracy_score, a, b, w)
        kinds: list[tuple[str, str | None, Estimate]] = [("cohen_kappa", None, pair.cohen_kappa)]
        if people.level != "nominal" and _equal_steps(positions(people)):
            kinds.append(("weighted_cohen_kappa", "quadratic", pair.weighted_cohen_kappa))
            kinds.append(("linear_cohen_kappa", "linear", pair.linear_cohen_kappa))
        for kind, weighting, own in kinds:
            if own.defined:
                yield _kappa(f"{kind} {name}", own.value, (a, b, w), people.n_categories, weighting)


def _equal_steps(places: FloatArray) -> bool:
    """scikit-learn weighs by the number of steps between two categories."""
    return bool(len(places) < 3 or np.ptp(np.diff(places)) < SAME)


def _kappa(
    name: str, own: float, pair: tuple[IntArray, IntArray, FloatArray], q: int, weighting: str | None
) -> Recomputed:
    from sklearn.metrics import cohen_kappa_score

    a, b, w = pair
    other = cohen_kappa_score(a, b, labels=np.arange(q), weights=weighting, sample_weight=w)
    return Recomputed(name, own, SCIKIT_LEARN, float(other))


def _of_majority(people: RatingTable, codes: IntArray, found: JudgeAgreement) -> Iterator[Recomputed]:
    """The judge against the majority, and against people's mean score."""
    from sklearn.metrics import accuracy_score, mean_absolute_error

    decided, weights = majority(people).codes, _weights(people)
    both = (codes != MISSING) & (decided != MISSING)
    a, b, w = codes[both], decided[both], weights[both]
    if found.accuracy.defined:
        yield _sklearn("accuracy", found.accuracy.value, accuracy_score, b, a, w)
    if found.majority_cohen_kappa.defined:
        yield _kappa("majority_cohen_kappa", found.majority_cohen_kappa.value, (a, b, w), people.n_categories, None)
    yield from _macro(found, a, b, w)
    if people.level != "nominal" and found.mae.defined:
        rated = (codes != MISSING) & (people.ratings_per_item > 0)
        mean = np.nanmean(people.rated_scores[rated], axis=1)
        yield _sklearn("mae", found.mae.value, mean_absolute_error, mean, people.scores[codes[rated]], weights[rated])


def _macro(found: JudgeAgreement, judge: IntArray, people: IntArray, weights: FloatArray) -> Iterator[Recomputed]:
    """Precision and recall, averaged over the categories where each is defined."""
    from sklearn.metrics import precision_score, recall_score

    for name, score, used in (
        ("macro_precision", precision_score, np.unique(judge)),
        ("macro_recall", recall_score, np.unique(people)),
    ):
        own = getattr(found, name)
        if own.defined and len(used):
            other = score(people, judge, labels=used, average="macro", zero_division=0.0, sample_weight=weights)
            yield Recomputed(name, own.value, SCIKIT_LEARN, float(other))


def _errors(scores: FloatArray, labels: FloatArray, found: Reliability) -> Iterator[Recomputed]:
    """Absolute error and, for labels of yes and no, Brier score and the reliability diagram."""
    from sklearn.metrics import brier_score_loss, mean_absolute_error

    if found.mae.defined:
        yield _sklearn("calibration mae", found.mae.value, mean_absolute_error, labels, scores, None)
    binary = set(np.unique(labels).tolist()) <= {0.0, 1.0} and bool(((scores >= 0) & (scores <= 1)).all())
    if binary and found.brier.defined:
        yield _sklearn("brier", found.brier.value, brier_score_loss, labels, scores, None)


def _steps(scores: FloatArray, labels: FloatArray, found: Isotonic) -> Iterator[Recomputed]:
    """The isotonic map at each score it was fitted to."""
    from sklearn.isotonic import IsotonicRegression

    others = IsotonicRegression().fit(scores, labels).predict(found.scores)
    for score, own, other in zip(found.scores.tolist(), found.values.tolist(), others.tolist(), strict=True):
        yield Recomputed(f"isotonic map at {score:g}", own, SCIKIT_LEARN, other)


def _weights(people: RatingTable) -> FloatArray:
    return np.ones(people.n_items) if people.weights is None else np.asarray(people.weights, dtype=float)


def _sklearn(
    name: str,
    own: float,
    metric: Callable[..., float],
    truth: Sequence[float] | BoolArray | FloatArray | IntArray,
    said: FloatArray | IntArray,
    weights: FloatArray | None,
) -> Recomputed:
    return Recomputed(name, own, SCIKIT_LEARN, float(metric(truth, said, sample_weight=weights)))
