"""Shapes of the JSON documents that this room makes; at run time each is a dict."""

from __future__ import annotations

from typing import NotRequired, TypedDict, final

from annotation.stats.difficulty.result_types import (
    BlurDocument,
    PersonFitDocument,
    PredictionErrorDocument,
    WantedItemDocument,
)
from annotation.stats.result_types import (
    ComparedTierDocument,
    DependenceDocument,
    EstimateDocument,
    GoldHead,
    HeadlineDocument,
    NoteDocument,
    ShiftedTiersDocument,
    TableAgreementDocument,
    TierGroupDocument,
    TierPlanDocument,
)
from core.documents import Row, Rows


class MajorityDocument(TypedDict):
    """Items by the category that most of their people chose, and the items without one."""

    counts: dict[str, int]
    tied: int
    unrated: int


class PeopleFiguresDocument(TableAgreementDocument):
    """How far people agree on a criterion."""

    headline: HeadlineDocument
    majority: MajorityDocument | None
    dependence: DependenceDocument


class PeopleAgreementDocument(PeopleFiguresDocument):
    """The same with its conventions."""

    conventions: list[NoteDocument]


class DifficultyDocument(TypedDict):
    """What the difficulty model says of a criterion; where it is not fitted only ``method``, ``cuts``, ``reason``.

    ``items`` have `annotation.stats.result_types.ItemDifficultyDocument` with what a study calls them.
    """

    name: NotRequired[str]
    method: str | None
    cuts: list[float]
    reason: str | None
    expected_counts: NotRequired[dict[str, float]]
    clear: NotRequired[int]
    people: NotRequired[list[PersonFitDocument]]
    thresholds: NotRequired[list[list[float]]]
    reasons: NotRequired[list[str]]
    count_intervals: NotRequired[dict[str, list[float]]]
    n_items: NotRequired[int]
    items: NotRequired[Rows | list[Row]]
    by_counted: NotRequired[list[ComparedTierDocument]]


class CountedTiersDocument(TypedDict):
    """Tiers by the kappa of each item's ratings; what a person set stands above them, as ``overridden`` counts.

    `items` are rows of item, ratings, kappa, tier, stability and reason.
    """

    study: NotRequired[str]
    criterion: NotRequired[str]
    cuts: list[float]
    chance: str
    chance_agreement: float | None
    counts: dict[str, int]
    items: Rows
    plans: list[TierPlanDocument]
    sensitivity: list[ShiftedTiersDocument]
    seed: int
    draws: int
    warnings: list[NoteDocument]
    computed_counts: NotRequired[dict[str, int]]
    overridden: NotRequired[int]
    groups: NotRequired[list[GroupTiersDocument]]


class GroupTiersDocument(TierGroupDocument):
    """A group of items with the number of its items in each tier."""

    counts: dict[str, int]


class BothTiersDocument(CountedTiersDocument):
    """Counted tiers and the difficulty model of a criterion."""

    difficulty: DifficultyDocument


class GoldDocument(GoldHead):
    """The gold of a criterion; `items` are `GoldItemDocument` with what a study calls them."""

    study: str
    criterion: str
    items: Rows


@final
class NoResultDocument(TypedDict):
    """Why there is no result on a criterion of this level."""

    study: str
    criterion: str
    level: str
    reason: str


class MoreRatingsFound(TypedDict):
    """What more ratings would tell, or why that is not known."""

    items: list[WantedItemDocument]
    n_items: NotRequired[int]
    n_clear: NotRequired[int]
    n_unclear: NotRequired[int]
    n_first: NotRequired[int]
    ahead: NotRequired[int]
    clear_from: NotRequired[float]
    ratings: NotRequired[EstimateDocument]
    settled: NotRequired[EstimateDocument]
    n_waiting: NotRequired[int]
    reason: str | None


class CriterionMoreRatingsDocument(MoreRatingsFound):
    """The same of a criterion, with the positions of the items to ask about, and in a sentence."""

    study: str
    criterion: str
    cuts: list[float]
    ask: list[int]
    sentence: str


class FeaturesDocument(TypedDict):
    """The features that difficulty is predicted from, and why none are by word vectors."""

    used: list[str]
    word_vectors: str | None
    reason: str | None


class PredictionHead(TypedDict):
    """Whether difficulty can be predicted on a criterion, and how far predictions are off; without a model, why."""

    study: str
    criterion: str
    of: str
    predicts: bool
    reason: str | None
    features: FeaturesDocument
    n_items: int
    error: PredictionErrorDocument | None
    cuts: NotRequired[list[float]]
    slopes: NotRequired[dict[str, float]]
    n_rated: NotRequired[int]
    blur: NotRequired[BlurDocument]
    expected_counts: NotRequired[dict[str, float]]
    seed: NotRequired[int]
