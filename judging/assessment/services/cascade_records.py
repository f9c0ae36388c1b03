"""Cascades that are on record: those from which something was escalated to people, and what came back from there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.stats.table import MISSING, IntArray
from annotation.studies.models.studies import Study
from judging.assessment.models.assessment import Escalation
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.report_types import RecordedCascadeDocument
from judging.assessment.services import escalation
from judging.assessment.services.cascades import sureness
from judging.judges.models import Judge
from judging.stats.cascade import find_deciding_stage


def newest(study: Study, judge: Judge | None = None) -> Escalation | None:
    """The newest cascade on the study, or the newest in which this judge is asked."""
    made = (
        Escalation.objects.filter(study=study)
        .exclude(cascade={})
        .select_related("target")
        .order_by("-created_at", "-pk")
    )
    return next((one for one in made if judge is None or judge.pk in _judges(one)), None)


def document(made: Escalation, evidence: StudyData) -> RecordedCascadeDocument | None:
    """Its judges, promise and limits, and what people have said; None where one of its judges is gone."""
    there = {judge.pk: judge for judge in evidence.judges()}
    if not set(_judges(made)) <= there.keys():
        return None
    each = evidence.load_judges([there[pk] for pk in _judges(made)])
    stages = made.cascade["stages"]
    names = {criterion.key: criterion.name for criterion in each[-1].criteria}
    back = escalation.summarise_return(
        made, each[-1], lambda key: _collect_verdicts(each, [stage["limits"][key] for stage in stages], key)
    )
    for key, one in back["criteria"].items():
        one["name"] = names[key]
    return {
        "judges": [str(one.judge) for one in each],
        "target_agreement": made.target_agreement,
        "delta": made.cascade["delta"],
        "limits": {stage["judge"]: stage["limits"] for stage in stages},
        "slug": made.target.slug,
        "made_at": made.created_at.isoformat(timespec="seconds"),
        **back,
    }


def compute_study(evidence: StudyData) -> RecordedCascadeDocument | None:
    """The newest cascade of the study on record."""
    made = newest(evidence.study)
    return document(made, evidence) if made else None


def compute_judge(evidence: JudgeData) -> RecordedCascadeDocument | None:
    """The newest cascade on record in which the judge is asked, on the same part of the items."""
    made = newest(evidence.study, evidence.judge)
    return document(made, StudyData.load(evidence.study, evidence.part)) if made else None


def _judges(made: Escalation) -> list[int]:
    return [stage["judge_id"] for stage in made.cascade["stages"]]


def _collect_verdicts(each: Sequence[JudgeData], stored: list[list[float | None]], key: str) -> IntArray:
    """(n,) the verdict of the stage that keeps an item, -1 where none does."""
    columns = [one.evidence[key] for one in each]
    limits = [(_limit(low), _limit(high)) for low, high in stored]
    place = find_deciding_stage([sureness(column) for column in columns], limits)
    codes = np.column_stack([column.said.codes for column in columns])
    return np.where(place < 0, MISSING, codes[np.arange(len(place)), place])


def _limit(stored: float | None) -> float:
    return np.nan if stored is None else stored
