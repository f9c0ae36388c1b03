"""Which items of a study to label next for a corrected mean of a given width; a study of them, and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, FloatArray
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from judging.assessment.models.assessment import LabelPlan
from judging.assessment.options import PlanOptions
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.services import follow_up_studies, power
from judging.judges.models import Judge
from judging.stats.active import ScoredSample, active_mean
from judging.stats.assessment_data import AssessmentData
from judging.stats.labelling_plan import LabelsNeeded, allocation, draw_systematic, inclusion, labels_needed
from judging.stats.observed import to_scores

NO_MEAN = "a scale without an order has no mean to be planned for"
NO_DRAW = "which items to label next is drawn for criteria of whole items only"
Document = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LabellingPlan:
    """A plan on one criterion.

    Attributes
    ----------
    needed
        Labels with and without the judge; None on a scale without a mean.
    reason
        Why there is no plan, or None.
    allocation
        By group, labels more, where groups were asked for.
    probabilities
        (n,) of each item to be drawn; 0 for those that cannot be.
    taken
        (n,) the items that the draw takes.
    no_draw
        Why nothing can be drawn however many labels are needed, or None.
    """

    key: str
    options: PlanOptions
    needed: LabelsNeeded | None
    reason: str | None
    allocation: Mapping[str, int]
    probabilities: FloatArray
    taken: BoolArray
    no_draw: str | None = None


def build_plan(evidence: JudgeData, options: PlanOptions) -> LabellingPlan:
    """How many labels, dealt over groups where asked, and which items next, each by a known probability.

    Raises InputError where there is no such criterion or grouping.
    """
    one, key = _select_criterion(evidence, options.criterion), options.criterion
    if options.by and options.by not in one.material.groups:
        known = ", ".join(one.material.groups) or "none"
        raise InputError(f"items are not grouped by {options.by!r}; there are {known}", field="by")
    nothing = np.zeros(one.material.n)
    if one.people.counted and one.table.n_categories > 2 and not one.is_choice:
        return LabellingPlan(key, options, None, NO_MEAN, {}, nothing, nothing > 0)
    human, judge = _columns(one)
    needed = labels_needed(
        human, judge, width=options.width, confidence=options.confidence, clusters=one.material.dependent
    )
    of_parts = any(criterion.key == key and criterion.unit != Criterion.Unit.ITEM for criterion in evidence.criteria)
    more = 0 if of_parts or np.isnan(needed.with_judge) else int(needed.more)
    groups = one.material.groups[options.by] if options.by else ("",) * one.material.n
    dealt = allocation(human, judge, groups, more) if more else {}
    probabilities = _probabilities(one, human, judge, groups, dealt)
    taken = draw_systematic(probabilities, seed=options.seed)
    shown, no_draw = dealt if options.by else {}, NO_DRAW if of_parts else None
    return LabellingPlan(key, options, needed, needed.reason, shown, probabilities, taken, no_draw)


def plan(evidence: JudgeData, options: PlanOptions) -> Document:
    """The plan as a document, with what came back of the newest study that was made of one."""
    return document(evidence, build_plan(evidence, options))


def document(evidence: JudgeData, found: LabellingPlan) -> Document:
    """What `plan_labels` prints: labels needed, and the items with the probability that each had of being drawn."""
    one, made = evidence.evidence[found.key], newest(evidence.study, evidence.judge, found.key)
    return {
        "criterion": found.key,
        "judge": str(evidence.judge),
        "part": evidence.part,
        "estimand": _estimand(one),
        "width": found.options.width,
        "by": found.options.by,
        "confidence": found.options.confidence,
        "seed": found.options.seed,
        "needed": found.needed and found.needed.to_json(),
        "reason": found.reason,
        "no_draw": found.no_draw,
        "allocation": dict(found.allocation),
        "could_be_drawn": int((found.probabilities > 0).sum()),
        "items": [
            {
                "position": int(one.material.names[row]),
                "probability": float(found.probabilities[row]),
                "confidence": number_or_none(float(one.said.confidence[row])),
            }
            for row in np.flatnonzero(found.taken).tolist()
        ],
        "came_back": summarise_return(made, evidence) if made else None,
        "power": power.build_power_table(one),
    }


def _select_criterion(evidence: JudgeData, key: str) -> AssessmentData:
    evidence.check_criterion(key)
    return evidence.evidence[key]


def _estimand(one: AssessmentData) -> str:
    """What is planned for."""
    if one.is_choice:
        return "the win rate of response 1, ties as half"
    return "the rate of one category" if one.people.counted else "the mean score"


def _columns(one: AssessmentData) -> tuple[FloatArray, FloatArray]:
    """(n,) people's labels and the judge's verdicts as numbers; NaN where there is none that counts.

    Of pairs the numbers are preferences for response 1, a tie half of one, so that their mean is its win rate.
    """
    if one.is_choice:
        prefers, counts = one.preferences, one.usable
        said = (to_scores(codes, prefers) for codes in (one.people.consensus, one.said.codes))
        human, judge = (np.where(counts, column, np.nan) for column in said)
        return human, judge
    return one.scores()[0], np.where(one.usable, to_scores(one.said.codes, one.numbers), np.nan)


def _probabilities(
    one: AssessmentData, human: FloatArray, judge: FloatArray, groups: tuple[str, ...], dealt: Mapping[str, int]
) -> FloatArray:
    """(n,) within each group as many as were dealt to it, more likely where the judge is in doubt."""
    eligible, names = np.isnan(human) & ~np.isnan(judge), np.asarray(groups, dtype=object)
    doubt = 1 - one.said.confidence if one.said.confidence_from else np.full(one.material.n, np.nan)
    found = np.zeros(one.material.n)
    for name, more in dealt.items():
        here = eligible & (names == name)
        found += inclusion(np.clip(doubt, 0.0, 1.0), here, more)
    return found


@audited("labels.plan", says=("overlap",))
def make_study(*, by: User | None, evidence: JudgeData, found: LabellingPlan, name: str, overlap: int = 3) -> LabelPlan:
    """A draft of the items that the draw takes, each with its probability as its weight. InputError where none is."""
    if not found.taken.any():
        raise InputError(found.reason or found.no_draw or "there are labels enough: nothing is drawn", field="width")
    material, probability = evidence.material, found.probabilities
    names = [int(position) for position in material.names]
    kept = {names[row]: float(probability[row] * material.inclusion[row]) for row in np.flatnonzero(found.taken)}
    criterion = next(criterion for criterion in evidence.criteria if criterion.key == found.key)
    with transaction.atomic():
        made = follow_up_studies.like(
            by=by,
            source=evidence.study,
            name=name,
            overlap=overlap,
            description=f"To be labelled next in {evidence.study.name}, for the mean of {criterion.name}.",
        )
        follow_up_studies.fill(
            by=by,
            source=evidence.study,
            made=made,
            probabilities=kept,
            method="active",
            frame_size=int((probability > 0).sum()),
            seed=found.options.seed,
            filters={"to_be_labelled_in": [evidence.study.slug], "criterion": found.key},
        )
        return LabelPlan.objects.create(
            study=evidence.study,
            judge=evidence.judge,
            criterion=criterion,
            target=made,
            parameters={"width": found.options.width, "by": found.options.by, "confidence": found.options.confidence},
            seed=found.options.seed,
            probabilities={str(names[row]): float(probability[row]) for row in np.flatnonzero(probability > 0)},
            created_by=by,
        )


def newest(study: Study, judge: Judge, key: str) -> LabelPlan | None:
    """The newest study made of a plan with the judge on the criterion."""
    made = LabelPlan.objects.filter(study=study, judge=judge, criterion__key=key).select_related("target", "criterion")
    return made.order_by("-created_at", "-pk").first()


def summarise_return(made: LabelPlan, evidence: JudgeData) -> Document:
    """The mean of all items with the labels of the study that was made of the plan, each by its probability."""
    one = evidence.evidence[made.criterion.key]
    human, judge = _columns(one)
    probability = np.full(one.material.n, np.nan)
    for row, name in enumerate(one.material.names):
        probability[row] = made.probabilities.get(name, np.nan)
    could = ~np.isnan(probability)
    scale = one.preferences if one.is_choice else one.numbers
    label, taken = _load_new_labels(made, one.material.names, scale)
    found = active_mean(
        ScoredSample(
            human=np.where(could, np.where(np.isnan(judge), np.nan, label), np.where(np.isnan(judge), np.nan, human)),
            judge=judge,
            probability=np.where(np.isnan(judge), np.nan, probability),
            taken=taken & could & ~np.isnan(judge),
            weights=np.ones(one.material.n) if one.material.weights is None else one.material.weights,
            clusters=one.material.dependent,
        ),
        confidence=made.parameters["confidence"],
        bounds=(float(scale.min()), float(scale.max())),
    )
    return {"study": made.target.name, "slug": made.target.slug, **found.to_json()}


def _load_new_labels(made: LabelPlan, names: Sequence[str], scale: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(n,) what people said in the new study, by the rows of the old one, and which items are in it."""
    target = StudyData.load(made.target)
    people = next(target.people[c.pk] for c in target.criteria if c.key == made.criterion.key)
    positions = follow_up_studies.load_positions(made.study, made.target)
    rows = follow_up_studies.find_rows(positions, people.table.items, names)
    label, taken = np.full(len(names), np.nan), np.zeros(len(names), dtype=bool)
    label[rows[rows >= 0]], taken[rows[rows >= 0]] = people.compute_expected(scale)[rows >= 0], True
    return label, taken
