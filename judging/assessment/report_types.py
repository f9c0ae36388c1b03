"""Shapes of the JSON document of a study's report; at run time each is a dict."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from annotation.agreement.result_types import DifficultyDocument, PeopleFiguresDocument
from annotation.stats.result_types import EstimateDocument
from judging.assessment.agreement_types import LeftOutDocument, RankingDocument
from judging.assessment.calibration_figures import BoardsRow, CorrectionRow
from judging.assessment.result_types import (
    AuditDocument,
    CalibrationDocument,
    CriterionAuditDocument,
    CriterionCalibrationDocument,
    HoldOutDocument,
    RulesRecordDocument,
    VerdictDocument,
)
from judging.stats.calibration_types import CorrectedEstimateDocument
from judging.stats.result_types import CascadeDocument, RulesDocument
from judging.stats.verdict import Decision


class ReportStudyDocument(TypedDict):
    """The study that is reported on."""

    name: str
    kind: str
    description: str
    n_items: int


class ReportPeopleDocument(PeopleFiguresDocument):
    """Agreement of people on a criterion, with two coefficients of its table; on a page, with where it leads."""

    name: str
    alpha: EstimateDocument
    same: EstimateDocument
    href: NotRequired[str]


class ReportRatersDocument(TypedDict):
    """How many people rated, and how many simulated annotators."""

    people: int
    simulated: int


class ReportRunsDocument(TypedDict):
    """Which stored results a judge's part is of."""

    calibration: int
    audit: int


class ReportJudgeDocument(TypedDict):
    """All that is said of a judge, with the hash of its certificate and whether that holds."""

    kind: str
    model: str
    decision: Decision | None
    is_success: bool
    calibration: CalibrationDocument
    audit: AuditDocument
    verdicts: dict[str, VerdictDocument]
    rules: RulesDocument
    runs: ReportRunsDocument
    input_hash: str
    certificate: str | None
    certificate_state: str | None


class ReportRulesDocument(RulesRecordDocument):
    """How the rules came about, and the criterion of success in words."""

    success_in_words: str


class CriterionCascadeDocument(CascadeDocument):
    """A cascade on a criterion, and each of its judges by itself."""

    criterion: str
    name: str
    n_items: int
    alone: list[CascadeDocument]


class StudyCascadeDocument(TypedDict):
    """A cascade by criterion key, and how many items it leaves to people; a command adds what was and is escalated."""

    study: str
    part: str
    judges: list[str]
    target_agreement: float
    delta: float
    left_to_people: int
    criteria: dict[str, CriterionCascadeDocument]
    on_record: NotRequired[RecordedCascadeDocument | None]
    escalated: NotRequired[dict[str, str | int]]


class ReturnedCriterionDocument(TypedDict):
    """Labels that came back of what was left to people: how many, how often the judge is confirmed, mean of all."""

    name: NotRequired[str]
    labelled: int
    confirmed: EstimateDocument
    combined: float | None


class ReturnedDocument(TypedDict):
    """What people have said so far of ``items`` that were left to them, by criterion key."""

    study: str
    target_agreement: float
    items: int
    criteria: dict[str, ReturnedCriterionDocument]


class RecordedCascadeDocument(ReturnedDocument):
    """A cascade on record: ``limits`` by judge and criterion are its threshold and the least confidence looked at."""

    judges: list[str]
    delta: float
    limits: dict[str, dict[str, list[float | None]]]
    slug: str
    made_at: str


class MethodsDocument(TypedDict):
    """The methods paragraph with its references, and their keys for BibTeX."""

    text: str
    references: list[str]
    keys: list[str]


class ReportDocument(TypedDict):
    """Everything that is known of a study's judges; by criterion key, and judges by name."""

    format: str
    study: ReportStudyDocument
    summary: str
    without_scores: list[str]
    generated_at: str
    code_version: str
    people: dict[str, ReportPeopleDocument]
    difficulty: dict[str, DifficultyDocument]
    agreement_run: int
    dependence: str
    raters: ReportRatersDocument
    simulated: list[str]
    annotators: dict[str, str]
    same_models: list[str]
    left_out: list[LeftOutDocument]
    held_out: HoldOutDocument | None
    rules_on_record: ReportRulesDocument
    judges: dict[str, ReportJudgeDocument]
    cascade: StudyCascadeDocument | None
    cascade_on_record: RecordedCascadeDocument | None
    differences: list[RankingDocument]
    methods: MethodsDocument


class SampleDescription(TypedDict):
    """How items were drawn."""

    method: str
    strata: list[str]
    frame_size: int
    size: int
    seed: int


class JudgeDescription(TypedDict):
    """A judge as the methods paragraph describes it; ``judged`` are the first and the last day."""

    name: str
    kind: str
    provider: str
    model: str
    version: int
    prompts: list[str]
    judged: list[str]
    resamples: int


class DesignDescription(TypedDict):
    """What the methods paragraph says of items, raters and judges; ``labelled`` are the first and the last day."""

    items: str
    clusters: str
    asked_of: dict[str, list[str]]
    samples: list[SampleDescription]
    n_people: int
    n_simulated: int
    labelled: list[str]
    judges: list[JudgeDescription]
    code_version: str


class Section(TypedDict):
    """What a page shows of a judge on a criterion, and where its figures lead."""

    of: str
    found: CriterionCalibrationDocument
    verdict: VerdictDocument
    audit: CriterionAuditDocument
    correction: list[CorrectionRow]
    corrected: list[tuple[str, CorrectedEstimateDocument]]
    groups: list[dict[str, object]]
    boards: list[BoardsRow]
    plots: list[dict[str, str]]
    href: NotRequired[str]
    scored_href: NotRequired[str]
    people_href: NotRequired[str]


class JudgeSections(TypedDict):
    """A judge with scores, and what a page shows of it on each criterion."""

    judge: str
    of: ReportJudgeDocument
    criteria: list[Section]


class JudgeSection(TypedDict):
    """A judge on one criterion."""

    judge: str
    of: ReportJudgeDocument
    section: Section


class CriterionSections(TypedDict):
    """A criterion with its judges."""

    key: str
    name: str
    judges: list[JudgeSection]
