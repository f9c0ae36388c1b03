"""The same figures once more, by the libraries krippendorff and scikit-learn.

Concord computes its figures itself, because intervals need thousands of replicates. A slip in a figure would pass
unseen. So results recompute each figure that one of these libraries has, and print the largest difference. The
libraries take a second to load, which only those wait for who compute a result.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats import cohen
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.estimate import number_or_none
from annotation.stats.majority import majority
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import OF_LEVEL, compute_weights, positions
from judging.stats.agreement import JudgeAgreement
from judging.stats.calibrate import CalibrationResult
from judging.stats.calibration import Isotonic, Recalibration
from judging.stats.calibration_types import RecomputedDocument, SecondOpinionDocument
from judging.stats.figures import MEANS
from judging.stats.reliability import BINS, Reliability
from judging.stats.rogan_gladen import RoganGladen

KRIPPENDORFF, SCIKIT_LEARN = "krippendorff", "scikit-learn"
SAME = 1e-9
"""A larger difference is no rounding: one of the two is wrong."""

WEIGHTINGS = {"cohen_kappa": None, "weighted_cohen_kappa": "quadratic", "linear_cohen_kappa": "linear"}
VERSUS_MAJORITY = {
    "accuracy": "percent_agreement",
    "majority_cohen_kappa": "cohen_kappa",
    "majority_weighted_cohen_kappa": "weighted_cohen_kappa",
}
MOST_PAIRS = 200
"""Pairs of annotators above which the ceiling is not recomputed: four calls each take longer than all the rest."""


@dataclass(frozen=True)
class RecomputedFigure:
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

    def to_json(self) -> RecomputedDocument:
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

    figures: tuple[RecomputedFigure, ...]

    @property
    def largest(self) -> RecomputedFigure | None:
        """The figure on which Concord and a library differ most; None where nothing was recomputed."""
        return max(self.figures, key=lambda one: one.difference, default=None)

    @property
    def agrees(self) -> bool:
        """Whether no difference is more than rounding."""
        return all(one.difference <= SAME for one in self.figures)

    @property
    def libraries(self) -> list[str]:
        """By name."""
        return sorted({one.library for one in self.figures})

    def describe(self) -> str:
        """One sentence for page, report and certificate."""
        worst = self.largest
        if worst is None:
            return "No figure was recomputed: there is none that another library has."
        libraries = " and ".join(self.libraries)
        said = f"{len(self.figures)} figures recomputed with {libraries}; largest difference {worst.difference:.1e}"
        return f"{said}." if self.agrees else f"{said} ({worst.figure}): do not trust these figures, and report this."

    def to_json(self) -> SecondOpinionDocument:
        """The comparison as JSON types; the figures themselves only where they differ."""
        worst = self.largest
        return {
            "recomputed": len(self.figures),
            "libraries": self.libraries,
            "largest_difference": None if worst is None else number_or_none(worst.difference),
            "agrees": self.agrees,
            "message": self.describe(),
            "different": [one.to_json() for one in self.figures if one.difference > SAME],
        }


def recompute(
    found: CalibrationResult,
    scores: Recalibration | None,
    agreed: tuple[RatingTable, IntArray, JudgeAgreement] | None = None,
) -> SecondOpinion:
    """Recompute a calibration, and the agreement that stands beside it.

    `agreed` holds the annotators' ratings, the judge's codes and the judge's agreement with people.
    """
    agreement = agreement_figures(*agreed) if agreed else ()
    return SecondOpinion((*agreement, *calibration_figures(found, scores)))


def agreement_figures(people: RatingTable, codes: IntArray, found: JudgeAgreement) -> Iterator[RecomputedFigure]:
    """A judge's agreement with people, and people's own beside it.

    Parameters
    ----------
    people, codes
        The annotators' ratings and the judge's (n_items,) codes, -1 where missing, that ``found`` was computed from.
    found
        The judge's agreement with people.
    """
    yield from _alpha(people)
    yield from _kappas(people, codes, found)
    yield from _ceiling(people.subset_items(codes != MISSING), found)
    yield from _of_majority(people, codes, found)


def calibration_figures(found: CalibrationResult, scores: Recalibration | None) -> Iterator[RecomputedFigure]:
    """The judge's rates on two categories, and its scores before and after recalibration.

    Parameters
    ----------
    found, scores
        A calibration, and its recalibration: of the verdicts, or of the judge's own scores.
    """
    if scores is None:
        return
    f, y = scores.scores, scores.human
    both = ~np.isnan(f) & ~np.isnan(y)
    if found.rogan_gladen is not None:
        decided = both & np.isin(y, (0, 1))
        yield from _rates(f[decided], y[decided], scores.weights[decided], found.rogan_gladen)
    kept = both if scores.reason else both & ~np.isnan(scores.mapped)
    w = scores.weights
    yield from _errors("before", f[kept], y[kept], w[kept], scores.scale, scores.before)
    yield from _errors("after", scores.mapped[kept], y[kept], w[kept], scores.scale, scores.after)
    if isinstance(scores.map, Isotonic):
        yield from _steps(f[both], y[both], w[both], scores.map)


def _alpha(people: RatingTable) -> Iterator[RecomputedFigure]:
    """Krippendorff's alpha; the library knows no weights of items."""
    import krippendorff

    if people.weights is not None or not _varies(people.codes[people.pairable]):
        return
    data = np.where(people.codes == MISSING, np.nan, people.codes.astype(float)).T
    if people.level in ("interval", "ratio"):
        data = np.where(np.isnan(data), np.nan, people.scores[people.codes.T])
    domain = people.scores if people.level in ("interval", "ratio") else np.arange(float(people.n_categories))
    own = float(krippendorff_alpha(people).evaluate(np.ones((1, people.n_items)))[0, 0])
    level: Any = people.level if people.level not in OF_LEVEL else _by_weights(people)
    other = krippendorff.alpha(reliability_data=data, value_domain=np.unique(domain), level_of_measurement=level)
    yield RecomputedFigure("krippendorff_alpha", own, KRIPPENDORFF, float(other))


def _by_weights(people: RatingTable) -> object:
    """The distance of rankings or sets as the library takes it: by their places, whatever else it tells."""
    apart = 1 - compute_weights(people, OF_LEVEL[people.level])

    def distance(*_: object, i1: IntArray, i2: IntArray, **__: object) -> FloatArray:
        return apart[i1, i2]

    return distance


def _varies(codes: IntArray) -> bool:
    used = codes[codes != MISSING]
    return bool(used.size) and bool(np.ptp(used) > 0)


def _kappas(people: RatingTable, codes: IntArray, found: JudgeAgreement) -> Iterator[RecomputedFigure]:
    """The judge beside each annotator, and the means over annotators."""
    said = {
        pair.b: _of_pair(codes, people.codes[:, people.raters.index(pair.b)], people) for pair in found.per_annotator
    }
    for pair in found.per_annotator:
        for kind, other in said[pair.b].items():
            yield RecomputedFigure(f"{kind} with {pair.b}", getattr(pair, kind).value, SCIKIT_LEARN, other)
    means = _means(said[pair.b] for pair in found.per_annotator if pair.in_mean)
    for name, kind in MEANS.items():
        if kind in means:
            yield RecomputedFigure(name, getattr(found, name).value, SCIKIT_LEARN, means[kind])


def _ceiling(people: RatingTable, found: JudgeAgreement) -> Iterator[RecomputedFigure]:
    """People among themselves, on the items that the judge scored: means over all pairs, and over those of each."""
    pairs = cohen.rater_pairs(people)
    if not pairs or len(pairs) > MOST_PAIRS:
        return
    columns = [people.raters.index(one.rater) for one in found.annotators]
    member = cohen.everyone_and_each(pairs, columns, cohen.joint_counts(people.codes)) > 0
    said = [_of_pair(people.codes[:, a], people.codes[:, b], people) for a, b in pairs]
    everyone, *each = (_means(one for one, counts in zip(said, group, strict=True) if counts) for group in member.T)
    for name, kind in MEANS.items():
        if kind in everyone:
            yield RecomputedFigure(f"ceiling {name}", found.ceiling[name].value, SCIKIT_LEARN, everyone[kind])
    for annotator, means in zip(found.annotators, each, strict=True):
        for kind, other in means.items():
            yield RecomputedFigure(f"{kind} of {annotator.rater}", getattr(annotator, kind).value, SCIKIT_LEARN, other)


def _of_pair(a: IntArray, b: IntArray, people: RatingTable) -> dict[str, float]:
    """What scikit-learn says of two raters' codes (n_items,), by kind; nothing where it is undefined."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    both = (a != MISSING) & (b != MISSING)
    if not both.any():
        return {}
    a, b, w = a[both], b[both], _weights(people)[both]
    said = {"percent_agreement": float(accuracy_score(a, b, sample_weight=w))}
    if not _varies(np.r_[a, b]):
        return said
    labels = np.arange(people.n_categories)
    for kind, weighting in WEIGHTINGS.items():
        if weighting is None or (people.has_scores and _equal_steps(positions(people))):
            said[kind] = float(cohen_kappa_score(a, b, labels=labels, weights=weighting, sample_weight=w))
    return said


def _means(said: Iterable[dict[str, float]]) -> dict[str, float]:
    """By kind, the mean over the pairs that have it."""
    values: dict[str, list[float]] = {}
    for one in said:
        for kind, value in one.items():
            values.setdefault(kind, []).append(value)
    return {kind: float(np.mean(listed)) for kind, listed in values.items()}


def _equal_steps(places: FloatArray) -> bool:
    """scikit-learn weighs by the number of steps between two categories."""
    return bool(len(places) < 3 or np.ptp(np.diff(places)) < SAME)


def _of_majority(people: RatingTable, codes: IntArray, found: JudgeAgreement) -> Iterator[RecomputedFigure]:
    """The judge against the majority, and against people's mean score."""
    from sklearn.metrics import mean_absolute_error

    decided, weights = majority(people).codes, _weights(people)
    said = _of_pair(codes, decided, people)
    for name, kind in VERSUS_MAJORITY.items():
        if kind in said:
            yield RecomputedFigure(name, getattr(found, name).value, SCIKIT_LEARN, said[kind])
    both = (codes != MISSING) & (decided != MISSING)
    yield from _macro(found, codes[both], decided[both], weights[both])
    rated = (codes != MISSING) & (people.ratings_per_item > 0)
    if people.has_scores and rated.any():
        mean = np.nanmean(people.rated_scores[rated], axis=1)
        other = mean_absolute_error(mean, people.scores[codes[rated]], sample_weight=weights[rated])
        yield RecomputedFigure("mae", found.mae.value, SCIKIT_LEARN, float(other))


def _macro(found: JudgeAgreement, judge: IntArray, people: IntArray, weights: FloatArray) -> Iterator[RecomputedFigure]:
    """Precision, recall and F1, averaged over the categories where each is defined."""
    from sklearn.metrics import f1_score, precision_score, recall_score

    if not len(judge):
        return
    for name, score, used in (
        ("macro_precision", precision_score, np.unique(judge)),
        ("macro_recall", recall_score, np.unique(people)),
        ("macro_f1", f1_score, np.union1d(judge, people)),
    ):
        other = score(people, judge, labels=used, average="macro", zero_division=0.0, sample_weight=weights)
        yield RecomputedFigure(name, getattr(found, name).value, SCIKIT_LEARN, float(other))


def _rates(
    judge: FloatArray, people: FloatArray, weights: FloatArray, found: RoganGladen
) -> Iterator[RecomputedFigure]:
    """Sensitivity and specificity: recall of the yes, and of the no."""
    from sklearn.metrics import recall_score

    for name, own, side in (("sensitivity", found.sensitivity, 1), ("specificity", found.specificity, 0)):
        if own.defined:
            other = recall_score(people, judge, pos_label=side, sample_weight=weights)
            yield RecomputedFigure(name, own.value, SCIKIT_LEARN, float(other))


def _errors(
    name: str,
    scores: FloatArray,
    labels: FloatArray,
    weights: FloatArray,
    scale: tuple[float, float],
    found: Reliability,
) -> Iterator[RecomputedFigure]:
    """Absolute error, Brier score and, for labels of yes and no without weights, the reliability diagram."""
    from sklearn.metrics import brier_score_loss, mean_absolute_error, mean_squared_error

    if not found.mae.defined:
        return
    error = mean_absolute_error(labels, scores, sample_weight=weights)
    yield RecomputedFigure(f"mae {name}", found.mae.value, SCIKIT_LEARN, float(error))
    p, y = ((column - scale[0]) / (scale[1] - scale[0]) for column in (scores, labels))
    binary = bool(np.isin(y, (0, 1)).all() and ((p >= 0) & (p <= 1)).all())
    loss = brier_score_loss if binary else mean_squared_error
    yield RecomputedFigure(f"brier {name}", found.brier.value, SCIKIT_LEARN, float(loss(y, p, sample_weight=weights)))
    if binary and np.ptp(weights) == 0:
        yield from _diagram(name, p, y, scale, found)


def _diagram(
    name: str, p: FloatArray, y: FloatArray, scale: tuple[float, float], found: Reliability
) -> Iterator[RecomputedFigure]:
    """The calibration curve; left out where a score lies on the border of two bins, as scikit-learn takes the lower."""
    from sklearn.calibration import calibration_curve

    place = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], p)
    if np.bincount(place)[np.unique(place)].tolist() != [one.n for one in found.bins]:
        return
    curve = (scale[0] + side * (scale[1] - scale[0]) for side in calibration_curve(y, p, n_bins=BINS))
    for one, human, score in zip(found.bins, *curve, strict=True):
        yield RecomputedFigure(f"label in bin {one.low:g} {name}", one.human.value, SCIKIT_LEARN, float(human))
        yield RecomputedFigure(f"score in bin {one.low:g} {name}", one.score, SCIKIT_LEARN, float(score))


def _steps(scores: FloatArray, labels: FloatArray, weights: FloatArray, found: Isotonic) -> Iterator[RecomputedFigure]:
    """The isotonic map at each score it was fitted to; Concord's own is scipy's."""
    from sklearn.isotonic import IsotonicRegression

    others = IsotonicRegression().fit(scores, labels, sample_weight=weights).predict(found.scores)
    for score, own, other in zip(found.scores.tolist(), found.values.tolist(), others.tolist(), strict=True):
        yield RecomputedFigure(f"isotonic map at {score:g}", own, SCIKIT_LEARN, other)


def _weights(people: RatingTable) -> FloatArray:
    return np.ones(people.n_items) if people.weights is None else np.asarray(people.weights, dtype=float)
