"""Shapes of the JSON documents that this room makes, stores and reads; at run time each is a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict, final

from annotation.stats.result_types import (
    DependenceDocument,
    EstimateDocument,
    HeadlineDocument,
    HeadlinePair,
    SideBiasDocument,
)
from judging.assessment.agreement_types import LeftOutDocument
from judging.stats.calibration_types import (
    BoardsDocument,
    CalibrationFiguresDocument,
    CorrectedDocument,
    GroupRankDocument,
    GuaranteeDocument,
    SecondOpinionDocument,
    TierAccuracyDocument,
)
from judging.stats.result_types import (
    AltTestDocument,
    AltTestOutcome,
    BaselineDocument,
    DecisionDocument,
    DuplicatesDocument,
    JudgeAgreementDocument,
    JudgeFigures,
    LabelNoiseDocument,
    PowerDocument,
    ProbesDocument,
    RulesDocument,
)

if TYPE_CHECKING:
    from annotation.stats.labels import Label
    from annotation.stats.table import Level


class LabelledDocument(TypedDict):
    """What the rules ask of the labelled items with a verdict; older documents do not say whether it is constant."""

    clusters: int
    outside_commonest: float
    constant: NotRequired[bool]
    asked: int
    unscored: int


class LabelsDocument(LabelledDocument):
    """What people's labels are made of: numbers of items and ratings."""

    n_items: int
    n_raters: int
    n_ratings: int
    adjudicated: int
    tied: int
    could_not_judge: int
    not_judged: int


class GroupBoardsDocument(TypedDict):
    """Corrected means by group, and their ranks by board."""

    corrected: dict[str, CorrectedDocument]
    boards: dict[str, list[GroupRankDocument]]


class CoverageInterval(TypedDict):
    """Share of all items that are kept."""

    coverage: EstimateDocument


class TierGuaranteeDocument(GuaranteeDocument):
    """What selective judging guarantees within a tier."""

    intervals: CoverageInterval


class TierAgreementDocument(JudgeFigures):
    """A judge beside people within a tier, on the ``scored`` items."""

    scored: int


class TierDocument(TypedDict):
    """What the verdict asks, within one tier of difficulty."""

    n_items: int
    labels: LabelledDocument
    unscored_share: EstimateDocument
    agreement: TierAgreementDocument
    alt_test: AltTestOutcome | None
    selective: list[TierGuaranteeDocument]
    gained: EstimateDocument


class DifficultyAccuracyDocument(TierAccuracyDocument):
    """Agreement by tier of the difficulty model, or why there is none."""

    reason: str | None
    method: NotRequired[str]


class TiersDocument(TypedDict):
    """What is said within tiers, by their names."""

    reason: str | None
    by_tier: dict[str, TierDocument]
    by_difficulty: DifficultyAccuracyDocument


class CriterionFiguresDocument(CalibrationFiguresDocument):
    """The calibration of a judge on a criterion, as computed from its columns."""

    criterion: str
    name: str
    level: str
    categories: list[str]
    seed: int
    bootstrap: int
    confidence: float
    labels: LabelsDocument
    kappa: HeadlinePair
    headline: HeadlineDocument
    dependence: DependenceDocument
    unscored_share: EstimateDocument
    confidence_from: str
    agreement: JudgeAgreementDocument
    alt_test: AltTestDocument | None
    groups: dict[str, GroupBoardsDocument]
    power: PowerDocument
    leaderboard: BoardsDocument | None
    tiers: TiersDocument
    second_opinion: SecondOpinionDocument


@final
class FileCalibrationDocument(CalibrationFiguresDocument):
    """The calibration of a file, whose columns ``human`` and ``judge`` are."""

    human: str
    judge: str
    level: Level
    categories: list[Label]
    seed: int
    bootstrap: int
    confidence: float
    second_opinion: SecondOpinionDocument


class CriterionCalibrationDocument(CriterionFiguresDocument):
    """The same with the run that it is of, and why replies held no verdict and how often."""

    run: int
    run_finished: bool
    reasons: dict[str, int]


class JudgeHead(TypedDict):
    """Which judge was looked at, on which part of which study."""

    study: str
    judge: str
    kind: str
    model: str
    provider: str
    prompts: list[str]
    part: str
    left_out: list[LeftOutDocument]


@final
class SelectedCalibrationDocument(CriterionCalibrationDocument, JudgeHead):
    """The calibration of a judge on the criterion that is asked for."""


class CalibrationDocument(JudgeHead):
    """The calibration of a judge, by criterion key."""

    criteria: dict[str, CriterionCalibrationDocument]


class ItemTiersDocument(TypedDict):
    """Tiers as a grouping of ``n_items`` items; ``sure`` is the mean probability of the likeliest."""

    made_by: str
    n_items: int
    sure: float | None
    reason: str | None


class CountedDuplicatesDocument(DuplicatesDocument):
    """Groups of equal items, of which only the first are listed; with the number of all that differ."""

    n_contradictory: int


class AnsweredDocument(TypedDict):
    """How many people answered a question, and how many of the answers too few gave."""

    people: int
    answered: int
    answers_left_out: int


class QuestionsDocument(TypedDict):
    """By question about people, who answered; answers of fewer than ``least_people`` are not looked at."""

    least_people: int
    questions: dict[str, AnsweredDocument]


class CriterionAuditDocument(ProbesDocument):
    """The probes of a judge on a criterion, and what the data say of themselves."""

    criterion: str
    name: str
    not_probed: str
    tiers: ItemTiersDocument | None
    polarity: EstimateDocument
    baselines: list[BaselineDocument]
    labels: LabelNoiseDocument
    duplicates: CountedDuplicatesDocument
    annotator_groups: QuestionsDocument


class AuditDocument(JudgeHead):
    """The audits of a judge, by criterion key."""

    criteria: dict[str, CriterionAuditDocument]


class TierVerdictDocument(DecisionDocument):
    """The verdict within a tier of ``n_items`` items; on a page, with where they are listed."""

    n_items: int
    href: NotRequired[str]


class VerdictDocument(DecisionDocument):
    """The verdict on a criterion, over all items and within tiers."""

    criterion: str
    name: str
    kappa: EstimateDocument
    human_ceiling: EstimateDocument
    power: PowerDocument
    tiers: dict[str, TierVerdictDocument]


class CertificateStatusDocument(TypedDict):
    """Whether a certificate holds, and what it decides by criterion."""

    state: str
    holds: bool
    problems: list[str]
    notes: list[str]
    sha256: str
    decisions: dict[str, str]


class RulesLookDocument(TypedDict):
    """When the rules were looked at, by whom, and their hash."""

    at: str
    by: str
    sha256: str


RuleChange = TypedDict("RuleChange", {"rule": str, "from": str, "to": str})
"""A rule that was changed, in words; a word of Python cannot be a name in a class."""


class RulesChangeDocument(RulesLookDocument):
    """A change of the rules after the first look."""

    reason: str
    changed: list[RuleChange]
    sentence: str


class SuccessDocument(TypedDict):
    """The criterion of success: at least this decision on these criteria; without any named, on all."""

    decision: str
    criteria: list[str]


class RulesRecordDocument(TypedDict):
    """How the rules of a study came about."""

    success: SuccessDocument
    sha256: str | None
    first_look: RulesLookDocument | None
    changes: list[RulesChangeDocument]


class CertificateContent(TypedDict):
    """What a certificate says of a judge on a study, as far as it is read again."""

    study: dict[str, str]
    judge: dict[str, str | int]
    criteria: dict[str, dict[str, object]]
    held_out: dict[str, object] | None
    rules_on_record: RulesRecordDocument


class CertificateDocument(TypedDict):
    """A certificate as a file; the first ones had no signature."""

    content: CertificateContent
    sha256: str
    signature: NotRequired[dict[str, str]]


class JudgedCriterionAuditDocument(CriterionAuditDocument):
    """The audits of a criterion with its verdict, and which side people prefer where it is a preference."""

    verdict: VerdictDocument
    people_position: SideBiasDocument | None


class JudgedAuditDocument(JudgeHead):
    """The audits of a judge with its verdicts, by criterion key."""

    criteria: dict[str, JudgedCriterionAuditDocument]
    rules_on_record: RulesRecordDocument


class SelectedAuditDocument(JudgedCriterionAuditDocument, JudgeHead):
    """The audits of a judge on the criterion that is asked for, with what holds for the study."""

    rules_on_record: RulesRecordDocument
    leaks: list[int]


class StudyRulesDocument(TypedDict):
    """The rules of a study, and how they came about."""

    study: str
    rules: RulesDocument
    rules_on_record: RulesRecordDocument


class LeakingAuditDocument(JudgedAuditDocument):
    """The same with the positions of held-out items whose content stands in the development part too."""

    leaks: list[int]


class LookDocument(TypedDict):
    """A look at the held-out part."""

    judge: str
    at: str
    by: str | None
    calibration: int


class HoldOutDocument(TypedDict):
    """Which share is held out, how many of its items leak into the development part, and who looked."""

    share: float
    seed: int
    leaks: int
    looks: list[LookDocument]


class UnassessedDocument(TypedDict):
    """In place of a result of which every criterion is left out."""

    study: str
    judge: str
    part: str
    criteria: dict[str, CriterionCalibrationDocument]
    left_out: list[LeftOutDocument]


AssessmentDocument = CalibrationDocument | AuditDocument | LeakingAuditDocument | UnassessedDocument
"""What is said of a judge by criterion key."""
