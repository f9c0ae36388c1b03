"""Escalation: what a judge cannot be relied upon for becomes a study of its own, and what people say there comes back.

Labels from there are of the doubtful items alone. They say what the judge was worth on those, and they take its place
there; mixed with the labels of a sample they would make the judge look worse than it is, so they are kept apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from annotation.stats.estimate import number_or_none
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.units import to_position
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options
from judging.assessment.models.assessment import Escalation
from judging.assessment.options import NewEscalation
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.report_types import ReturnedCriterionDocument, ReturnedDocument
from judging.assessment.services import follow_up_studies
from judging.assessment.services.assessment import Assessment
from judging.judges.models import Judge
from judging.stats.assessment_data import AssessmentData
from judging.stats.calibration_types import SelectionDocument
from judging.stats.clusters import count_clustered_share
from judging.stats.observed import People, select_names, to_scores


@dataclass(frozen=True, eq=False)
class EscalatedItems:
    """Which items are escalated to people at one target: those of which anything is in doubt on any criterion.

    Attributes
    ----------
    thresholds
        By criterion key, the least confidence that is kept; None where nothing is guaranteed.
    doubtful
        By criterion key, the names of the items, turns or responses without a label whose verdict is not kept.
    """

    thresholds: Mapping[str, float | None]
    doubtful: Mapping[str, tuple[str, ...]]

    @property
    def positions(self) -> list[int]:
        """Of the items, each once."""
        return list_positions(self.doubtful)


def list_positions(doubtful: Mapping[str, Sequence[str]]) -> list[int]:
    """Positions of the items of which anything is named on any criterion, in order."""
    return sorted({to_position(name) for names in doubtful.values() for name in names})


def find_escalated(found: Assessment, target: float) -> EscalatedItems:
    """What selective judging at this target leaves. Raises InputError where it was not computed for the target."""
    thresholds, doubtful = {}, {}
    for key, evidence in found.evidence.evidence.items():
        chosen = _selection(found.calibration.document["criteria"][key]["selective"], target)
        threshold = chosen["threshold"] if chosen["guaranteed"] else None
        thresholds[key] = threshold
        left = evidence.usable & ~evidence.labelled & ~mask_accepted(evidence, threshold)
        doubtful[key] = select_names(evidence.material.names, left)
    return EscalatedItems(thresholds, doubtful)


def mask_accepted(evidence: AssessmentData, threshold: float | None) -> BoolArray:
    """(n,) verdicts that are sure enough; without a confidence all verdicts are equally sure."""
    given = evidence.said.codes != MISSING
    if threshold is None:
        return np.zeros_like(given)
    sure = evidence.said.confidence if evidence.said.confidence_from else np.where(given, 1.0, np.nan)
    return np.asarray(given & (sure >= threshold))


def _selection(selective: Sequence[SelectionDocument], target: float) -> SelectionDocument:
    for one in selective:
        if np.isclose(one["target_agreement"], target):
            return one
    known = ", ".join(f"{one['target_agreement']:g}" for one in selective)
    raise InputError(
        "{target:g} is none of the agreements that were tried: {known}", field="target", target=target, known=known
    )


@check_options(NewEscalation, but=("name",))
@audited("items.escalate", says=("found.judge", "target", "overlap"), prepares=True)
def escalate(*, by: User | None, found: Assessment, name: str, target: float = 0.9, overlap: int = 3) -> Escalation:
    """A draft of the items to escalate to people, with the same criteria. Raises InputError where there are none."""
    chosen = find_escalated(found, target)
    return make(
        by=by,
        found=found,
        doubtful=chosen.doubtful,
        thresholds=chosen.thresholds,
        name=name,
        target=target,
        overlap=overlap,
    )


@audited("items.escalate", says=("found.judge", "target", "overlap"))
def make(
    *,
    by: User | None,
    found: Assessment,
    doubtful: Mapping[str, Sequence[str]],
    thresholds: Mapping[str, float | None],
    name: str,
    target: float,
    overlap: int,
    cascade: Mapping[str, object] | None = None,
) -> Escalation:
    """A draft of the items of which anything is in doubt, by criterion key the names of what is. InputError where
    nothing is. Which turns and responses these are stands with the draw.

    What is left by a ``cascade`` is on record at its last judge, with the limits of every stage.
    """
    positions = list_positions(doubtful)
    if not positions:
        raise InputError("nothing is escalated to people: every verdict is kept or has a label", field="target")
    of_parts = [c.key for c in found.evidence.criteria if c.unit != Criterion.Unit.ITEM]
    with transaction.atomic():
        made = follow_up_studies.make(
            by=by,
            source=found.study,
            name=name,
            overlap=overlap,
            description=f"What a judge escalated to people in {found.study.name}.",
            probabilities=dict.fromkeys(positions, 1.0),
            method="all",
            frame_size=len(positions),
            seed=found.study.seed,
            filters={"left_to_people_in": [found.study.slug]}
            | {key: list(names) for key, names in doubtful.items() if key in of_parts},
        )
        return Escalation.objects.create(
            study=found.study,
            judge=found.judge,
            calibration=found.calibration,
            target=made,
            target_agreement=target,
            thresholds=dict(thresholds),
            cascade=cascade or {},
            created_by=by,
        )


def newest(study: Study, judge: Judge) -> Escalation | None:
    """The newest escalation of the judge alone on the study."""
    return (
        Escalation.objects.filter(study=study, judge=judge, cascade={})
        .select_related("target")
        .order_by("-created_at", "-pk")
        .first()
    )


def summarise_return(
    escalation: Escalation, evidence: JudgeData, keeps: Callable[[str], IntArray] | None = None
) -> ReturnedDocument:
    """What people have said so far of what was left to them, by criterion; of the items in this part of the study.

    ``keeps`` gives by criterion key the (n,) verdicts that are kept, -1 where none is: by default those of which the
    judge is sure enough.
    """
    target = StudyData.load(escalation.target)
    positions = follow_up_studies.load_positions(escalation.study, escalation.target)
    people = {criterion.key: target.people[criterion.pk] for criterion in target.criteria}
    limits, each = escalation.thresholds, evidence.evidence
    here = follow_up_studies.find_rows(positions, target.material.names, evidence.material.names)
    return {
        "study": escalation.target.name,
        "target_agreement": escalation.target_agreement,
        "items": int((here >= 0).sum()),
        "criteria": {
            key: _of_criterion(
                each[key],
                keeps(key) if keeps else np.where(mask_accepted(each[key], limits[key]), each[key].said.codes, MISSING),
                people[key],
                follow_up_studies.find_rows(positions, people[key].table.items, each[key].material.names),
            )
            for key in each
            if key in people and key in limits
        },
    }


def _of_criterion(
    evidence: AssessmentData, keeps: IntArray, people: People, rows: IntArray
) -> ReturnedCriterionDocument:
    """`rows` (m,) are the places in the old study of what people were shown in the new one; -1 for other parts."""
    there = rows >= 0
    rows, consensus, mean = rows[there], people.consensus[there], people.mean[there]
    judged = evidence.said.codes[rows]
    both = (consensus != MISSING) & (judged != MISSING)
    names = evidence.material.dependent
    clusters = None if names is None else [names[row] for row in rows.tolist()]
    reason = "people have not decided any of them yet"
    confirmed = count_clustered_share(consensus == judged, both, clusters, reason=reason)
    return {
        "labelled": int((~np.isnan(mean)).sum()),
        "confirmed": confirmed.to_json(),
        "combined": number_or_none(_combined(evidence, keeps, consensus, mean, rows)),
    }


def _combined(
    evidence: AssessmentData, keeps: IntArray, consensus: IntArray, mean: FloatArray, rows: IntArray
) -> float:
    """Mean over all items: people's label where there is one, else the verdict that is kept.

    NaN on a scale without a mean, and while any item has neither.
    """
    if evidence.people.counted and evidence.table.n_categories > 2:
        return float("nan")
    column, _ = evidence.scores()
    here = to_scores(consensus, evidence.numbers) if evidence.people.counted else mean
    column[rows] = np.where(np.isnan(here), column[rows], here)
    whole = np.where(np.isnan(column), to_scores(keeps, evidence.numbers), column)[evidence.usable]
    weights = np.ones(len(whole)) if evidence.material.weights is None else evidence.material.weights[evidence.usable]
    return float((weights * whole).sum() / weights.sum()) if len(whole) else float("nan")
