"""All that is known of one judge on a study: calibration, audits and the verdict, for pages, commands and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

from celery import current_app
from django.db import transaction

from annotation.stats.result_types import SideBiasDocument
from annotation.studies.models.studies import Study
from annotation.studies.queries.preferences import load_side_biases
from core.accounts.models.users import User
from core.errors import InputError, NotComputedError
from core.hashing import content_hash
from judging.assessment.agreement_types import LeftOutDocument
from judging.assessment.models.assessment import AuditRun, CalibrationRun
from judging.assessment.options import AssessmentOptions, AuditOptions
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.result_types import (
    AssessmentDocument,
    CalibrationDocument,
    JudgedAuditDocument,
    LeakingAuditDocument,
    RulesRecordDocument,
    SelectedAuditDocument,
    SelectedCalibrationDocument,
    UnassessedDocument,
)
from judging.assessment.services import rules, runs, verdicts
from judging.assessment.services.rules import StudyVerdictRules
from judging.assessment.services.verdicts import CriterionVerdict
from judging.judges.models import Judge
from judging.judges.queries.study_items import ALL, DEVELOPMENT, find_hold_out
from judging.stats.verdict import Decision, Rules


@dataclass(frozen=True)
class AssessmentRequest:
    """How calibration and audits are made. The rules are the study's: see rules.py."""

    calibration: AssessmentOptions = field(default_factory=AssessmentOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)


@dataclass(frozen=True)
class StoredAssessment:
    """What was computed of one judge on a study, without the labels and judgments that it was computed from."""

    study: Study
    judge: Judge
    calibration: CalibrationRun
    audit: AuditRun
    held_to: StudyVerdictRules
    verdicts: tuple[CriterionVerdict, ...]

    @property
    def rules(self) -> Rules:
        """The thresholds of the verdicts."""
        return self.held_to.rules

    @property
    def is_success(self) -> bool:
        """Whether the study's criterion of success is met."""
        return self.held_to.success.is_met(self.verdicts)

    @property
    def identity(self) -> str:
        """A hash of the results and rules, which tells whether somebody saw just these."""
        return content_hash([self.calibration.pk, self.audit.pk, self.rules.to_json()])

    @property
    def has_scores(self) -> bool:
        """Whether the judge scored an item that people labelled."""
        return any(one.kappa["n_items"] for one in self.verdicts)

    @property
    def decision(self) -> Decision | None:
        """What holds on every criterion."""
        return verdicts.worst(list(self.verdicts))

    def rules_on_record(self) -> RulesRecordDocument:
        """How the rules came about, with the names of those who set them: not for what is signed or kept."""
        return self.held_to.to_json(rules.load_names(self.held_to.rows))


@dataclass(frozen=True)
class Assessment(StoredAssessment):
    """The same with what it was computed from."""

    evidence: JudgeData

    @property
    def part(self) -> str:
        """Of the items: all, development or held-out."""
        return self.evidence.part

    @cached_property
    def people_position(self) -> dict[str, SideBiasDocument]:
        """By key of each preference, the position bias of people, beside which the judge's is read."""
        return {key: bias.to_json() for key, bias in load_side_biases(self.study).items()}

    def audit_document(self) -> JudgedAuditDocument:
        """The result of the audits with the verdict of each criterion, and which side people prefer."""
        said = {one.key: one.to_json() for one in self.verdicts}
        sides, audit = self.people_position, self.audit.document
        return {
            **audit,
            "criteria": {
                key: {**found, "verdict": said[key], "people_position": sides.get(key)}
                for key, found in audit["criteria"].items()
            },
            "rules_on_record": self.rules_on_record(),
        }


MOST_AT_ONCE = 100_000
"""Labels and judgments of a judge that are computed while a page is waited for; more is left to a worker."""

TASK = "judging.assess"


def size(evidence: JudgeData) -> int:
    """Labels and judgments that a result is computed from."""
    return sum(one.table.n_ratings + int(one.said.asked.sum()) for one in evidence.evidence.values())


def assess_judges(
    *, by: User | None, evidence: StudyData, asked: AssessmentRequest, patient: bool = True
) -> tuple[list[Assessment], list[Judge]]:
    """Every judge of the study: what is kept, or computed now; and the judges that are left to a worker.

    Who is not ``patient`` gets what is kept and what can be computed at once. The study's rules are locked.
    """
    each = evidence.load_judges(evidence.judges())
    if not each:
        return [], []
    held_to = rules.lock(by=by, study=evidence.study)
    calibrations = runs.load_stored_runs(CalibrationRun, each, asked.calibration.to_json(), asked.calibration.seed)
    audits = runs.load_stored_runs(AuditRun, each, asked.audit.to_json())
    found, waiting = [], []
    for mine in each:
        pk = mine.judge.pk
        if pk in calibrations and pk in audits:
            found.append(_build_assessment(mine, calibrations[pk], audits[pk], held_to))
        elif patient or size(mine) <= MOST_AT_ONCE:
            found.append(_computed(by, mine, asked, held_to))
        else:
            waiting.append(mine.judge)
    return found, waiting


def assess_unseen(evidence: Sequence[JudgeData]) -> list[Assessment]:
    """Each of these judges of a study, for nobody who looks: the study's rules stay open."""
    return [_computed(None, mine, AssessmentRequest(), rules.load(mine.study)) for mine in evidence]


def load_newest(*, by: User | None, study: Study) -> list[StoredAssessment]:
    """What was computed last of each judge on what may be looked at freely, whatever was labelled since.

    In a constant number of queries that read no label and no judgment. The study's rules are locked.
    """
    asked, part = AssessmentRequest(), DEVELOPMENT if find_hold_out(study) else ALL
    calibrations = runs.load_newest_runs(
        CalibrationRun, study, part, asked.calibration.to_json(), asked.calibration.seed
    )
    audits = runs.load_newest_runs(AuditRun, study, part, asked.audit.to_json())
    both = [(calibrations[pk], audits[pk]) for pk in calibrations if pk in audits]
    if not both:
        return []
    held_to = rules.lock(by=by, study=study)
    return [
        StoredAssessment(study, one.judge, one, audit, held_to, _compute_verdicts(one, audit, held_to))
        for one, audit in sorted(both, key=lambda pair: (pair[0].judge.name, pair[0].judge.version))
    ]


def queue(*, by: User | None, study: Study, judge: Judge) -> None:
    """Leave it to a worker, once what is being written is committed. The same asked twice is computed once.

    Whoever asks for it looks: the study's rules are locked. Raises InputError where the judge has not judged the study.
    """
    if not judge.runs.filter(study=study).exists():
        raise InputError("{judge} has not judged this study", field="judge", judge=judge)
    rules.lock(by=by, study=study)
    transaction.on_commit(lambda: current_app.send_task(TASK, args=[study.pk, judge.pk]))


def assess(study_id: int, judge_id: int) -> None:
    """What a worker does: compute and keep, unless it is kept."""
    study, judge = Study.objects.get(pk=study_id), Judge.objects.get(pk=judge_id)
    assess_judge(by=None, evidence=StudyData.load(study).load_judge(judge), asked=AssessmentRequest())


class NothingToAssessError(InputError):
    """No criterion of the study can be calibrated or audited: the message says why of each."""

    def __init__(self, evidence: JudgeData) -> None:
        super().__init__(evidence.reasons_left_out, field="criterion")
        self.evidence = evidence

    def to_json(self) -> UnassessedDocument:
        """The document in place of one on the criteria."""
        evidence = self.evidence
        return {
            "study": evidence.study.name,
            "judge": str(evidence.judge),
            "part": evidence.part,
            "criteria": {},
            "left_out": list(evidence.left_out),
        }


def assess_judge(*, by: User | None, evidence: JudgeData, asked: AssessmentRequest) -> Assessment:
    """Computed on every criterion, or what is kept of the same. The study's rules are locked.

    Raises InputError where the judge has said nothing.
    """
    if not evidence.criteria and evidence.left_out:
        raise NothingToAssessError(evidence)
    evidence.check_judged()
    return _computed(by, evidence, asked, rules.lock(by=by, study=evidence.study))


def assess_now(*, by: User | None, evidence: JudgeData, asked: AssessmentRequest) -> Assessment:
    """The same for somebody who waits. Raises NotComputedError for what a worker could have computed, and has not."""
    if size(evidence) > MOST_AT_ONCE and not _is_selected(evidence, asked):
        raise NotComputedError(
            "There are more than {most} labels and judgments: leave it to a worker, and ask again when it is done.",
            field="judge",
            most=f"{MOST_AT_ONCE:,}",
        )
    return assess_judge(by=by, evidence=evidence, asked=asked)


def _is_selected(evidence: JudgeData, asked: AssessmentRequest) -> bool:
    calibration, audit = asked.calibration, asked.audit
    calibrated = runs.load_stored_runs(CalibrationRun, [evidence], calibration.to_json(), calibration.seed)
    return bool(calibrated and runs.load_stored_runs(AuditRun, [evidence], audit.to_json()))


def _computed(by: User | None, evidence: JudgeData, asked: AssessmentRequest, held_to: StudyVerdictRules) -> Assessment:
    calibration = runs.calibration(by=by, evidence=evidence, options=asked.calibration)
    audit = runs.audit(by=by, evidence=evidence, options=asked.audit)
    return _build_assessment(evidence, calibration, audit, held_to)


def _build_assessment(
    evidence: JudgeData, calibration: CalibrationRun, audit: AuditRun, held_to: StudyVerdictRules
) -> Assessment:
    found = _compute_verdicts(calibration, audit, held_to)
    return Assessment(evidence.study, evidence.judge, calibration, audit, held_to, found, evidence)


def _compute_verdicts(
    calibration: CalibrationRun, audit: AuditRun, held_to: StudyVerdictRules
) -> tuple[CriterionVerdict, ...]:
    return tuple(verdicts.compute_verdicts(calibration.document, audit.document, held_to.rules))


@overload
def select_criterion(
    result: CalibrationDocument, key: str | None
) -> CalibrationDocument | SelectedCalibrationDocument | LeftOutDocument: ...
@overload
def select_criterion(result: LeakingAuditDocument, key: str) -> SelectedAuditDocument | LeftOutDocument: ...
@overload
def select_criterion(result: AssessmentDocument, key: str | None) -> Mapping[str, object]: ...
def select_criterion(result: AssessmentDocument, key: str | None) -> Mapping[str, object]:
    """What a reader asked for: one criterion's document, or all where there are several."""
    documents: Mapping[str, Mapping[str, object]] = result["criteria"]
    if key is None and len(documents) == 1:
        (key,) = documents
    if key is None:
        return result
    if missing := next((one for one in result.get("left_out", ()) if one["criterion"] == key), None):
        return {"study": result["study"], "judge": result["judge"], **missing}
    if key not in documents:
        raise InputError(
            "no criterion is called {key!r}; there are {documents}",
            field="criterion",
            key=key,
            documents=", ".join(documents),
        )
    head = {name: part for name, part in result.items() if name != "criteria"}
    return {**head, **documents[key]}


def list_criteria(result: LeakingAuditDocument, key: str | None) -> list[SelectedAuditDocument | LeftOutDocument]:
    """One document a criterion: of the one that is asked for, or of all."""
    return [select_criterion(result, one) for one in ([key] if key else result["criteria"])]
