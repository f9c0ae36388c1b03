"""Cascades: a cheap judge keeps what it is sure of, a dearer one gets the rest, and people what neither is sure of.

The idea is that of Jung, Brahman and Choi (2024), "Trust or Escalate: LLM Judges with Provable Guarantees for Human
Agreement", arXiv 2407.18370. What is guaranteed here, and why, is worked out in docs/methods-judge.md: the error
probability is split over the stages, and a later stage looks only at items whose labels no earlier test has looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.clusters import select_clusters
from judging.stats.result_types import CascadeDocument, StageDocument
from judging.stats.selective import STEPS, Selection, select

NO_COST = "what a judgment of {name} costs is not known"


@dataclass(frozen=True, eq=False)
class Stage:
    """One judge of a cascade, on the n items of a study.

    Attributes
    ----------
    name
        Of the judge.
    confidence
        (n,) how sure it is of its verdict; NaN without a verdict.
    agreement
        (n,) 1 where its verdict is what people said, 0 where not, between where they are tied; NaN without a label.
    cost
        What one item costs it, in dollars; NaN where unknown.
    """

    name: str
    confidence: FloatArray
    agreement: FloatArray
    cost: float = np.nan


@dataclass(frozen=True, eq=False)
class StageResult:
    """What one stage does.

    Attributes
    ----------
    name
        Of the judge.
    delta
        The error probability of its test.
    selection
        Its threshold, on the items that reach it.
    reached, kept, set_aside
        (n,) items that come to it, that it keeps, and that its test has looked at without keeping them: they go to
        people at once.
    """

    name: str
    delta: float
    selection: Selection
    reached: BoolArray
    kept: BoolArray
    set_aside: BoolArray

    @property
    def looked_from(self) -> float:
        """The least confidence that its test has looked at; NaN where it keeps nothing."""
        return self.selection.tried[-1].threshold if self.selection.guaranteed else np.nan


@dataclass(frozen=True, eq=False)
class Cascade:
    """A cascade with its thresholds.

    Attributes
    ----------
    target, delta
        Agreement with people among all verdicts kept, and the probability with which the promise may fail.
    stages
        In the order in which judges are asked.
    to_people
        (n,) items that no judge keeps.
    coverage, agreement
        Share of items kept by some judge; of those with a label, the share that agree.
    human_share
        The rest.
    cost
        Expected dollars per item for judges; NaN with a reason where one of them has no known cost.
    """

    target: float
    delta: float
    stages: tuple[StageResult, ...]
    to_people: BoolArray
    coverage: Estimate
    agreement: Estimate
    human_share: Estimate
    cost: float
    cost_reason: str | None

    @property
    def guaranteed(self) -> bool:
        """Whether any stage keeps anything."""
        return any(stage.selection.guaranteed for stage in self.stages)

    def to_json(self) -> CascadeDocument:
        """The cascade as JSON types."""
        return {
            "target_agreement": self.target,
            "delta": self.delta,
            "judges": [stage.name for stage in self.stages],
            "guaranteed": self.guaranteed,
            "coverage": self.coverage.to_json(),
            "agreement": self.agreement.to_json(),
            "human_share": self.human_share.to_json(),
            "cost_per_item_usd": number_or_none(self.cost),
            "cost_reason": self.cost_reason,
            "stages": [_as_json(stage) for stage in self.stages],
        }


def _as_json(stage: StageResult) -> StageDocument:
    return {
        "judge": stage.name,
        "delta": stage.delta,
        "threshold": number_or_none(stage.selection.threshold),
        "looked_from": number_or_none(stage.looked_from),
        "reached": int(stage.reached.sum()),
        "kept": int(stage.kept.sum()),
        "set_aside": int(stage.set_aside.sum()),
        "agreement": stage.selection.agreement.to_json(),
        "agreement_low": number_or_none(stage.selection.agreement_low),
        "guaranteed": stage.selection.guaranteed,
        "reason": stage.selection.reason,
    }


def cascade(
    stages: Sequence[Stage],
    *,
    clusters: Sequence[str] | None = None,
    weights: FloatArray | None = None,
    target: float = 0.9,
    delta: float = 0.05,
) -> Cascade:
    """Thresholds for every stage, so that all verdicts kept agree with people at the target rate.

    Parameters
    ----------
    stages
        In the order in which judges are asked.
    clusters, weights
        (n,) what is independent of each other, and one over the inclusion probability; items, equal by default.
    target, delta
        As of `judging.stats.selective.select`, for the cascade as a whole.

    Raises
    ------
    ValueError
        Without a stage, or where columns differ in length.
    """
    if not stages or len({len(column) for one in stages for column in (one.confidence, one.agreement)}) > 1:
        raise ValueError("a cascade needs a judge, and a column entry for every item from each")
    n = len(stages[0].confidence)
    left, aside = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    procedures = 2 if clusters is None else STEPS + 1
    made: list[StageResult] = []
    for place, stage in enumerate(stages):
        part = delta / len(stages) / procedures**place
        found = _stage(stage, left, clusters, weights, target, part)
        made.append(found)
        left, aside = left & ~found.kept & ~found.set_aside, aside | found.set_aside
    return _summed_up(stages, made, left | aside, clusters, weights, target, delta)


def _stage(
    stage: Stage,
    reached: BoolArray,
    clusters: Sequence[str] | None,
    weights: FloatArray | None,
    target: float,
    delta: float,
) -> StageResult:
    selection = select(
        stage.confidence[reached],
        stage.agreement[reached],
        clusters=select_clusters(clusters, reached),
        weights=None if weights is None else weights[reached],
        target=target,
        delta=delta,
    )
    if not selection.guaranteed:
        nothing = np.zeros(len(reached), dtype=bool)
        return StageResult(stage.name, delta, selection, reached, nothing, nothing)
    kept, aside = split_stage(stage.confidence, reached, selection.threshold, selection.tried[-1].threshold)
    return StageResult(stage.name, delta, selection, reached, kept, aside)


def split_stage(
    confidence: FloatArray, reached: BoolArray, threshold: float, looked_from: float
) -> tuple[BoolArray, BoolArray]:
    """(n,) what a stage keeps of the items that reach it, and what its test has looked at without keeping it."""
    kept = reached & (confidence >= threshold)
    return kept, reached & (confidence >= looked_from) & ~kept


def find_deciding_stage(confidences: Sequence[FloatArray], limits: Sequence[tuple[float, float]]) -> IntArray:
    """(n,) the place of the stage that keeps an item, by limits that were chosen before; -1 where none does.

    ``limits`` are each stage's threshold and the least confidence that its test had looked at; NaN for a stage that
    keeps nothing.
    """
    left = np.ones(len(confidences[0]), dtype=bool)
    place = np.full(len(left), -1)
    for stage, (confidence, (threshold, looked_from)) in enumerate(zip(confidences, limits, strict=True)):
        kept, aside = split_stage(confidence, left, threshold, looked_from)
        place[kept] = stage
        left = left & ~kept & ~aside
    return place


def _summed_up(
    stages: Sequence[Stage],
    made: Sequence[StageResult],
    to_people: BoolArray,
    clusters: Sequence[str] | None,
    weights: FloatArray | None,
    target: float,
    delta: float,
) -> Cascade:
    def mean(values: FloatArray, n_raters: int, reason: str) -> Estimate:
        there = ~np.isnan(values)
        part = None if weights is None else weights[there]
        return estimate_clustered_share(
            values[there], weights=part, clusters=select_clusters(clusters, there), n_raters=n_raters, reason=reason
        )

    agreement = np.full(len(to_people), np.nan)
    for found, stage in zip(made, stages, strict=True):
        agreement = np.where(found.kept, stage.agreement, agreement)
    unknown = [stage.name for stage in stages if np.isnan(stage.cost)]
    shares = [float(found.reached.mean()) if len(to_people) else np.nan for found in made]
    return Cascade(
        target=target,
        delta=delta,
        stages=tuple(made),
        to_people=to_people,
        coverage=mean((~to_people).astype(float), len(stages), "no items"),
        agreement=mean(agreement, 2, "no verdict is kept on an item with a label"),
        human_share=mean(to_people.astype(float), len(stages), "no items"),
        cost=float(sum(part * stage.cost for part, stage in zip(shares, stages, strict=True))),
        cost_reason=NO_COST.format(name=unknown[0]) if unknown else None,
    )
