"""Audits of the data, before a judge is blamed or praised: duplicates, trivial baselines, the noise of the labels."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.annotators import find_inverted_raters
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import FLAT
from annotation.stats.resampling import SumStatistic
from annotation.stats.scores import pearson
from annotation.stats.table import MISSING, FloatArray, IntArray
from judging.stats.assessment_data import AssessmentData
from judging.stats.asymptotic import build_undefined, estimate_by_jackknife, figure, quantile
from judging.stats.clusters import count_clustered_share, select_clusters
from judging.stats.observed import ItemColumns
from judging.stats.result_types import BaselineDocument, DuplicatesDocument, LabelNoiseDocument

EXACT = 1e-12
"""A correlation that is 1 or -1 up to this is so but for rounding."""

FEW = 10
"""Items below which a baseline says nothing."""


@dataclass(frozen=True)
class Duplicates:
    """Items with the same content.

    Attributes
    ----------
    groups
        Names of the items of each group of equals, in order.
    contradictory
        The groups whose items people labelled differently.
    """

    groups: tuple[tuple[str, ...], ...]
    contradictory: tuple[tuple[str, ...], ...]

    def to_json(self) -> DuplicatesDocument:
        """As JSON types."""
        return {
            "n_groups": len(self.groups),
            "n_items": sum(len(group) for group in self.groups),
            "groups": [list(group) for group in self.groups],
            "contradictory": [list(group) for group in self.contradictory],
        }


@dataclass(frozen=True)
class TrivialBaseline:
    """A rule that needs no model, and how often it says what people say; the judge on the same items beside it."""

    name: str
    accuracy: Estimate
    judge: Estimate

    @property
    def as_good(self) -> bool | None:
        """Whether the rule does at least as well as the judge; None where either is unknown."""
        if not (self.accuracy.defined and self.judge.defined):
            return None
        return bool(self.accuracy.value >= self.judge.value)

    def to_json(self) -> BaselineDocument:
        """As JSON types."""
        return {
            "name": self.name,
            "accuracy": self.accuracy.to_json(),
            "judge": self.judge.to_json(),
            "as_good_as_the_judge": self.as_good,
        }


def duplicates(fingerprints: Sequence[str], names: Sequence[str], labels: IntArray) -> Duplicates:
    """Items with equal fingerprints; contradictory where their labels (n,), -1 for none, differ."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, fingerprint in enumerate(fingerprints):
        groups[fingerprint].append(row)
    several = [rows for rows in groups.values() if len(rows) > 1]
    differing = [rows for rows in several if len({int(labels[row]) for row in rows} - {MISSING}) > 1]
    named = (tuple(tuple(names[row] for row in rows) for rows in part) for part in (several, differing))
    return Duplicates(*named)


def baselines(evidence: AssessmentData) -> list[TrivialBaseline]:
    """The commonest label; for pairs also the longer response and the one that comes first."""
    labels, judge = evidence.people.consensus, evidence.said.codes
    known = labels != MISSING
    if known.sum() < FEW:
        return []
    commonest, material = int(np.bincount(labels[known]).argmax()), evidence.material
    always, name = np.full(len(labels), commonest), f"always {evidence.table.categories[commonest]}"
    found = [_baseline(name, always, labels, judge, material)]
    if evidence.is_preference:
        values = [str(category) for category in evidence.table.categories]
        one, two = values.index("1"), values.index("2")
        longer = _longer(material.length, one, two)
        found.append(_baseline("the longer response", longer, labels, judge, material))
        found.append(_baseline("the response listed first", np.full(len(labels), one), labels, judge, material))
    return found


def _longer(length: FloatArray, one: int, two: int) -> IntArray:
    said = np.where(length > 0, one, two)
    return np.where(np.isnan(length) | (length == 0), MISSING, said)


def _baseline(name: str, rule: IntArray, labels: IntArray, judge: IntArray, material: ItemColumns) -> TrivialBaseline:
    used = (labels != MISSING) & (rule != MISSING) & (judge != MISSING)
    reason = "no item that people labelled and the judge scored"
    right, judge_right = (
        count_clustered_share(column == labels, used, material.dependent, weights=material.weights, reason=reason)
        for column in (rule, judge)
    )
    return TrivialBaseline(name, right, judge_right)


def label_noise(evidence: AssessmentData) -> LabelNoiseDocument:
    """How often each annotator says what is probably true (Dawid and Skene), and whose scale runs backwards."""
    table = evidence.table.subset_items(evidence.table.ratings_per_item > 0)
    if table.n_raters < 2 or not table.pairable.any():
        return {"annotators": [], "backwards": [], "reason": "it takes two annotators or more on the same items"}
    model = evidence.people.annotators
    accuracies = model.accuracy.tolist()
    distinct = distinct_items(table)
    return {
        "annotators": [
            {"annotator": rater, "n": int(n), "accuracy": None if np.isnan(accuracy) else accuracy}
            for rater, n, accuracy in zip(model.raters, model.n_ratings, accuracies, strict=True)
        ],
        "backwards": find_inverted_raters(distinct.table, distinct.copies),
        "converged": model.converged,
        "reason": None,
    }


def polarity(evidence: AssessmentData) -> Estimate:
    """Correlation of the judge's scores with people's on an ordered scale; below 0 one of them reads it backwards."""
    if not evidence.table.is_ordered:
        return build_undefined("the scale has no order", n_items=0)
    human, judge = evidence.scores()
    both = ~np.isnan(human) & ~np.isnan(judge)
    n = int(both.sum())
    if n < FEW:
        return build_undefined(f"{n} items with both; it takes {FEW}", n_items=n)
    if np.ptp(human[both]) == 0 or np.ptp(judge[both]) == 0:
        return build_undefined("the judge's scores or people's labels do not vary", n_items=n)
    material = evidence.material
    weights = None if material.weights is None else material.weights[both]
    return _correlation(human[both], judge[both], select_clusters(material.dependent, both), weights)


def _correlation(
    x: FloatArray, y: FloatArray, clusters: Sequence[str] | None = None, weights: FloatArray | None = None
) -> Estimate:
    """Pearson's of (n,) and (n,), -1 to 1, with an interval that is symmetric on Fisher's z.

    Of independent items of equal weight its error is that of Fisher (1921), 1 / sqrt(n - 3); with ``clusters`` (n,) or
    survey ``weights`` (n,) that of leaving out each cluster, or item, in turn. A correlation of 1 or -1 has none.
    """
    if np.isclose(abs(np.corrcoef(x, y)[0, 1]), 1, rtol=0, atol=EXACT):
        r = float(np.sign(np.corrcoef(x, y)[0, 1]))
        return figure(r, n_items=len(x), confidence=0.95, method="none", reason=f"{FLAT} of the items changes nothing")
    if clusters is not None or weights is not None:
        w, statistic = np.ones(len(x)) if weights is None else weights / weights.mean(), pearson(x, y)
        weighted = SumStatistic(statistic.contributions * w[:, None], statistic.function)
        return estimate_by_jackknife(weighted, clusters=clusters, n_items=len(x), bounds=(-1.0, 1.0))[0]
    r, n = float(np.corrcoef(x, y)[0, 1]), len(x)
    z, half = np.arctanh(r), quantile(0.95) / np.sqrt(n - 3)
    ends = (float(np.tanh(z - half)), float(np.tanh(z + half)))
    return figure(r, ends, n_items=n, confidence=0.95, method="Fisher z")
