"""Shapes of the JSON documents on agreement of people and judges; at run time each is a dict."""

from __future__ import annotations

from typing import NotRequired, TypedDict, final

from annotation.agreement.result_types import PeopleAgreementDocument, PredictionHead
from annotation.stats.result_types import DistanceDocument, EstimateDocument, HeadlineJudge, RaterGroupDocument
from core.documents import Row
from judging.stats.calibration_types import TierAccuracyDocument
from judging.stats.result_types import (
    AltTestDocument,
    FigureDifferenceDocument,
    JudgeAgreementDocument,
    JudgeDifferenceDocument,
    JudgeFigures,
    McNemarDocument,
    RankedJudgeDocument,
)


@final
class LeftOutDocument(TypedDict):
    """A criterion without a result, and why; alone also of what, and of an agreement also what was counted."""

    criterion: str
    name: str
    reason: str
    study: NotRequired[str]
    judge: NotRequired[str]
    level: NotRequired[str]
    n_items: NotRequired[int]
    n_raters: NotRequired[int]
    n_ratings: NotRequired[int]


class JudgeDocument(JudgeAgreementDocument):
    """A judge beside people on a criterion of a study, or in a file, where it has no run."""

    alt_test: AltTestDocument | None
    unscored_as: str | None
    kind: str
    run: int | None
    reads: str
    score_sources: dict[str, int]


class JudgeOfGroupDocument(JudgeFigures):
    """A judge beside people in one group of items, or of annotators."""

    n_items: int
    scored: int
    unscored: int
    not_judged: int


class ItemGroupDocument(TypedDict):
    """A group of items: people, and each judge by its name."""

    group: str
    n_items: int
    fleiss_kappa: EstimateDocument
    percent_agreement: EstimateDocument
    judges: dict[str, JudgeOfGroupDocument]


class AnnotatorGroupDocument(RaterGroupDocument):
    """A group of annotators: its people among themselves, and each judge with them."""

    judges: dict[str, JudgeOfGroupDocument]


class AnnotatorGroupsDocument(TypedDict):
    """Groups of annotators; those of fewer than ``least_people`` are left out, as many as ``groups_left_out``."""

    least_people: int
    people: int
    answered: int
    groups_left_out: int
    groups: list[AnnotatorGroupDocument]


@final
class CriterionAgreementDocument(PeopleAgreementDocument):
    """Agreement on one criterion, alone with which it is: people, each judge by its name, every two judges."""

    study: NotRequired[str]
    criterion: NotRequired[str]
    judges: dict[str, JudgeDocument]
    differences: list[JudgeDifferenceDocument]
    groups: NotRequired[list[ItemGroupDocument]]
    annotator_groups: NotRequired[AnnotatorGroupsDocument]
    unscored_by_people: NotRequired[dict[str, int]]


class AgreementRowDocument(TypedDict):
    """A criterion and a judge by the headline coefficient; without a judge, people alone."""

    criterion: str
    name: str
    judge: str | None
    kind: str | None
    coefficient: str
    judge_agreement: EstimateDocument | None
    people_agreement: EstimateDocument
    n_items: int
    n_raters: int
    n_ratings: int


class AgreementDocument(TypedDict):
    """Agreement of a study, by criterion key."""

    study: str
    criteria: dict[str, CriterionAgreementDocument]
    table: list[AgreementRowDocument]
    left_out: NotRequired[list[LeftOutDocument]]


SelectedAgreement = AgreementDocument | CriterionAgreementDocument | LeftOutDocument
"""Of a study, or of the criterion that is asked for."""


class RankingRowDocument(FigureDifferenceDocument):
    """A judge beside the one that agrees most with people, which is ``a``, on the items of both."""

    judge: str
    n_items: int
    ranks: list[int]


class RankingDocument(TypedDict):
    """Judges on one criterion by the headline figure; ``n_items`` is scored by all."""

    criterion: str
    name: str
    n_items: int
    best: str
    figure: str
    rows: list[RankingRowDocument]
    ranks: list[RankedJudgeDocument]


class ChangedFigureDocument(TypedDict):
    """A figure of the new and the old version, and the new minus the old."""

    new: EstimateDocument
    old: EstimateDocument
    difference: EstimateDocument


class OwnExamplesDocument(TypedDict):
    """How many items are examples of either version, and so not compared."""

    old: int
    new: int


class CriterionChangeDocument(TypedDict):
    """Two versions on a criterion, on the ``n_items`` that both scored; ``figure`` is that of the headline."""

    criterion: str
    name: str
    n_items: int
    examples: OwnExamplesDocument
    figure: HeadlineJudge
    figures: dict[str, ChangedFigureDocument]
    mcnemar: McNemarDocument


class VersionChangeDocument(TypedDict):
    """Two versions of a judge, by criterion key."""

    study: str
    part: str
    old: str
    new: str
    bootstrap: int
    seed: int
    criteria: dict[str, CriterionChangeDocument]


class SourcesOrWhyDocument(TypedDict):
    """Parts of people's disagreement, or why they are not told."""

    observed: NotRequired[EstimateDocument]
    expected: NotRequired[EstimateDocument]
    severity: NotRequired[EstimateDocument]
    carelessness: NotRequired[EstimateDocument]
    items: NotRequired[EstimateDocument]
    guideline: NotRequired[EstimateDocument]
    moved: NotRequired[int]
    reason: str | None


class TasteOrWhyDocument(TypedDict):
    """Camps of people, or why they are not told."""

    gain: NotRequired[EstimateDocument]
    camps: NotRequired[dict[str, int]]
    reason: str | None


class SetsDocument(TypedDict):
    """How often neighbouring answers hold a person's, and how many these are; aimed at ``level``, 0 to 1."""

    level: NotRequired[float]
    calibrated_on: NotRequired[int]
    covered: NotRequired[EstimateDocument]
    size: NotRequired[EstimateDocument]
    reason: str | None


class DisagreementSourcesDocument(TypedDict):
    """Why people differ on a criterion, and how far the judge is from them, by measure."""

    distance: dict[str, DistanceDocument]
    sources: SourcesOrWhyDocument
    taste: TasteOrWhyDocument
    sets: SetsDocument
    seed: int


class JudgeByTierDocument(TypedDict):
    """A judge by tier as fitted and as predicted, and what to expect of it on the predicted items."""

    judge: str
    fitted: TierAccuracyDocument | None
    predicted: TierAccuracyDocument | None
    on_predicted_items: EstimateDocument | None


class PredictionDocument(PredictionHead):
    """Predicted difficulty on a criterion; `items` are `PredictedItemDocument` with what a study calls them."""

    judges: list[JudgeByTierDocument]
    items: list[Row]
