"""Which items of a study to label next for a corrected mean of a given width; a study of them, and what came back.

A study asks for all parts of an item. Where a criterion is asked of turns or responses, labels are counted by these and
whole items are drawn: each turn or response has its item's inclusion probability (one-stage cluster sampling).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, FloatArray, IntArray
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.units import to_position
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from judging.assessment.models.assessment import LabelPlan
from judging.assessment.options import PlanOptions
from judging.assessment.progress_types import LabellingPlanDocument, PlanReturnDocument
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.services import follow_up_studies, power
from judging.judges.models import Judge
from judging.stats.active import ScoredSample, active_mean
from judging.stats.assessment_data import AssessmentData
from judging.stats.labelling_plan import LabelsNeeded, allocation, draw_systematic, inclusion, labels_needed
from judging.stats.observed import to_scores

NO_MEAN = "a scale without an order has no mean to be planned for"
ENOUGH = "there are enough labels"
TOO_FEW_ITEMS = "no number of labels of these items gives so narrow an interval"
CLUSTER_DRAW = "Whole items are drawn: each {noun} without a label has the inclusion probability of its item."


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
        (m,) of each item of the study to be drawn; 0 for those that cannot be.
    taken
        (m,) the items that the draw takes.
    no_draw
        Why nothing is drawn, or None.
    frame
        What of each item can be labelled.
    """

    key: str
    options: PlanOptions
    needed: LabelsNeeded | None
    reason: str | None
    allocation: Mapping[str, int]
    probabilities: FloatArray
    taken: BoolArray
    no_draw: str | None
    frame: DrawFrame


@dataclass(frozen=True, eq=False)
class DrawFrame:
    """The m items of a study, and the n rows of a criterion that they hold: themselves, or their turns or responses.

    Attributes
    ----------
    items
        (n,) the item of each row.
    is_open
        (n,) whether the row has a verdict of the judge and no label.
    n_open
        (m,) open rows of each item.
    doubt, confidence
        (m,) mean over these rows; NaN where that is unknown.
    """

    items: IntArray
    is_open: BoolArray
    n_open: IntArray
    doubt: FloatArray
    confidence: FloatArray

    @classmethod
    def build(cls, one: AssessmentData, names: Sequence[str], human: FloatArray, judge: FloatArray) -> DrawFrame:
        """Of the study's items by their names, and the labels and verdicts of the criterion's rows."""
        place = {name: row for row, name in enumerate(names)}
        items = np.array([place[str(to_position(name))] for name in one.material.names], dtype=np.int64)
        is_open = np.isnan(human) & ~np.isnan(judge)

        def average(values: FloatArray, known: BoolArray) -> FloatArray:
            sums, n = (np.bincount(items[known], of[known], len(names)) for of in (values, np.ones(len(values))))
            return np.where(n > 0, sums / np.maximum(n, 1), np.nan)

        sure = one.said.confidence
        doubt = np.clip(1 - sure, 0.0, 1.0) if one.said.confidence_from else np.full(len(sure), np.nan)
        return cls(
            items=items,
            is_open=is_open,
            n_open=np.bincount(items[is_open], minlength=len(names)),
            doubt=average(doubt, is_open & ~np.isnan(doubt)),
            confidence=average(sure, is_open & ~np.isnan(sure)),
        )

    def compute_probabilities(self, groups: Sequence[str], dealt: Mapping[str, int]) -> FloatArray:
        """(m,) within each group as many items as hold the labels dealt to it on average, more likely in doubt."""
        names, found = np.asarray(groups, dtype=object), np.zeros(len(self.n_open))
        for name, more in dealt.items():
            here = (self.n_open > 0) & (names == name)
            if here.any():
                found += inclusion(self.doubt, here, int(np.ceil(more / self.n_open[here].mean())))
        return found


def build_plan(evidence: JudgeData, options: PlanOptions) -> LabellingPlan:
    """How many labels, dealt over groups where asked, and which items next, each by a known probability.

    Raises InputError where there is no such criterion or grouping.
    """
    one, key = _select_criterion(evidence, options.criterion), options.criterion
    of_items = evidence.material
    if options.by and options.by not in of_items.groups:
        known = ", ".join(of_items.groups) or _("none")
        raise InputError("items are not grouped by {by!r}; there are {known}", field="by", by=options.by, known=known)
    human, judge = _columns(one)
    frame = DrawFrame.build(one, of_items.names, human, judge)
    if one.people.counted and one.table.n_categories > 2 and not one.is_choice:
        nothing = np.zeros(of_items.n)
        return LabellingPlan(key, options, None, NO_MEAN, {}, nothing, nothing > 0, NO_MEAN, frame)
    needed = labels_needed(
        human, judge, width=options.width, confidence=options.confidence, clusters=one.material.dependent
    )
    more = 0 if np.isnan(needed.with_judge) else int(needed.more)
    groups = of_items.groups[options.by] if options.by else ("",) * of_items.n
    dealt = allocation(human, judge, [groups[item] for item in frame.items.tolist()], more) if more else {}
    probabilities = frame.compute_probabilities(groups, dealt)
    taken = draw_systematic(probabilities, seed=options.seed)
    no_draw = needed.reason or (None if more else TOO_FEW_ITEMS if np.isnan(needed.with_judge) else ENOUGH)
    return LabellingPlan(
        key, options, needed, needed.reason, dealt if options.by else {}, probabilities, taken, no_draw, frame
    )


def plan(evidence: JudgeData, options: PlanOptions) -> LabellingPlanDocument:
    """The plan as a document, with what came back of the newest study that was made of one."""
    return document(evidence, build_plan(evidence, options))


def document(evidence: JudgeData, found: LabellingPlan) -> LabellingPlanDocument:
    """What `plan_labels` prints: labels needed, and the items with the probability that each had of being drawn."""
    one, made = evidence.evidence[found.key], newest(evidence.study, evidence.judge, found.key)
    criterion, frame = _find_criterion(evidence, found.key), found.frame
    of_parts = criterion.unit != Criterion.Unit.ITEM
    return {
        "criterion": found.key,
        "judge": str(evidence.judge),
        "part": evidence.part,
        "estimand": _estimand(one),
        "width": found.options.width,
        "by": found.options.by,
        "confidence": found.options.confidence,
        "seed": found.options.seed,
        "needed": None if found.needed is None else found.needed.to_json(),
        "reason": found.reason,
        "no_draw": found.no_draw,
        "cluster_draw": CLUSTER_DRAW.format(noun=criterion.part_noun) if of_parts else None,
        "allocation": dict(found.allocation),
        "could_be_drawn": int((found.probabilities > 0).sum()),
        "items": [
            {
                "position": int(evidence.material.names[row]),
                "probability": float(found.probabilities[row]),
                "confidence": number_or_none(float(frame.confidence[row])),
                "labels": int(frame.n_open[row]),
            }
            for row in np.flatnonzero(found.taken).tolist()
        ],
        "came_back": summarise_return(made, evidence) if made else None,
        "power": power.build_power_table(one),
    }


def _select_criterion(evidence: JudgeData, key: str) -> AssessmentData:
    evidence.check_criterion(key)
    return evidence.evidence[key]


def _find_criterion(evidence: JudgeData, key: str) -> Criterion:
    return next(criterion for criterion in evidence.criteria if criterion.key == key)


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


@audited("labels.plan", says=("overlap",))
def make_study(*, by: User | None, evidence: JudgeData, found: LabellingPlan, name: str, overlap: int = 3) -> LabelPlan:
    """A draft of the items that the draw takes, each with its probability as its weight. InputError where none is."""
    if not found.taken.any():
        raise InputError("nothing is drawn: {no_draw}", field="width", no_draw=found.no_draw)
    material, probability, frame = evidence.material, found.probabilities, found.frame
    rows = evidence.evidence[found.key].material.names
    names = [int(position) for position in material.names]
    kept = {names[row]: float(probability[row] * material.inclusion[row]) for row in np.flatnonzero(found.taken)}
    criterion = _find_criterion(evidence, found.key)
    could = np.flatnonzero(frame.is_open & (probability[frame.items] > 0))
    with transaction.atomic():
        made = follow_up_studies.make(
            by=by,
            source=evidence.study,
            name=name,
            overlap=overlap,
            description=f"To be labelled next in {evidence.study.name}, for the mean of {criterion.name}.",
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
            probabilities={rows[row]: float(probability[frame.items[row]]) for row in could.tolist()},
            created_by=by,
        )


def newest(study: Study, judge: Judge, key: str) -> LabelPlan | None:
    """The newest study made of a plan with the judge on the criterion."""
    made = LabelPlan.objects.filter(study=study, judge=judge, criterion__key=key).select_related("target", "criterion")
    return made.order_by("-created_at", "-pk").first()


def summarise_return(made: LabelPlan, evidence: JudgeData) -> PlanReturnDocument:
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
    noun = made.criterion.part_noun
    return {"study": made.target.name, "slug": made.target.slug, "noun": noun, **found.to_json()}


def _load_new_labels(made: LabelPlan, names: Sequence[str], scale: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(n,) what people said in the new study, by the rows of the old one, and which items are in it."""
    target = StudyData.load(made.target)
    people = next(target.people[c.pk] for c in target.criteria if c.key == made.criterion.key)
    positions = follow_up_studies.load_positions(made.study, made.target)
    rows = follow_up_studies.find_rows(positions, people.table.items, names)
    label, taken = np.full(len(names), np.nan), np.zeros(len(names), dtype=bool)
    label[rows[rows >= 0]], taken[rows[rows >= 0]] = people.compute_expected(scale)[rows >= 0], True
    return label, taken
