"""Shapes of the JSON documents that results of these statistics become; at run time each is a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from annotation.stats.labels import Label
    from annotation.stats.table import Level
    from annotation.stats.weighting import Weighting

HeadlinePair = Literal["cohen_kappa", "weighted_cohen_kappa", "overlap_f1"]
HeadlineJudge = Literal["mean_cohen_kappa", "mean_weighted_cohen_kappa", "mean_overlap_f1"]
HeadlineCeiling = Literal["human_ceiling", "human_ceiling_weighted", "human_ceiling_overlap"]
HeadlineBelow = Literal["below_ceiling", "below_ceiling_weighted", "below_ceiling_overlap"]


class EstimateDocument(TypedDict):
    """An `annotation.stats.estimate.Estimate`, None in place of NaN.

    What has no meaning on a scale has only the first four.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    n_items: NotRequired[int]
    n_raters: NotRequired[int]
    n_ratings: NotRequired[int]
    confidence: NotRequired[float]
    method: NotRequired[str]
    seed: NotRequired[int | None]
    se: NotRequired[float | None]
    df: NotRequired[float | None]


class NoteDocument(TypedDict):
    """A warning or a convention: a code that never changes its meaning, and a sentence."""

    code: str
    message: str


class HeadlineDocument(TypedDict):
    """Under what names the headline coefficient of a scale stands, and what it is called."""

    kappa: HeadlinePair
    people: str
    judge: HeadlineJudge
    ceiling: HeadlineCeiling
    below: HeadlineBelow
    name: str


class DependenceDocument(TypedDict):
    """How a table's intervals are made: numbers of clusters and strata, what they are called, and one sentence."""

    clusters: int | None
    by: str | None
    strata: int | None
    within: str | None
    weighted: bool
    alone: int
    message: str


class PairFigures(TypedDict, total=False):
    """Figures of two raters: the last three of marked spans, the others of all else."""

    cohen_kappa: EstimateDocument
    weighted_cohen_kappa: EstimateDocument
    percent_agreement: EstimateDocument
    linear_cohen_kappa: EstimateDocument
    scott_pi: EstimateDocument
    cohen_kappa_analytic: EstimateDocument
    overlap_f1: EstimateDocument
    labelled_overlap_f1: EstimateDocument
    exact_f1: EstimateDocument


PairFigure = Literal[
    "cohen_kappa",
    "weighted_cohen_kappa",
    "percent_agreement",
    "linear_cohen_kappa",
    "scott_pi",
    "cohen_kappa_analytic",
    "overlap_f1",
    "labelled_overlap_f1",
    "exact_f1",
]
"""The names of `PairFigures`."""


class PairDocument(PairFigures):
    """Two raters on the ``n`` items that both rated, and whether that is enough for a part in the means."""

    a: str
    b: str
    n: int
    in_mean: bool


class RaterDocument(PairFigures):
    """A rater against the others: means over its pairs."""

    rater: str
    n_ratings: int


class CategoryDocument(TypedDict):
    """A category: its share of the ratings and its kappa with all others merged, or its alpha for unitizing."""

    category: Label
    share: NotRequired[EstimateDocument]
    fleiss_kappa: NotRequired[EstimateDocument]
    unitizing_alpha: NotRequired[EstimateDocument]


class TableAgreementDocument(TypedDict):
    """How far the raters of a table agree; ``coefficients`` and ``analytic`` by the names of coefficients."""

    level: Level
    n_items: int
    n_items_pairable: int
    n_raters: int
    n_ratings: int
    categories: list[Label]
    weights: Weighting | None
    seed: int
    bootstrap: int
    confidence: float
    coefficients: dict[str, EstimateDocument]
    analytic: dict[str, EstimateDocument]
    per_category: list[CategoryDocument]
    pairs: list[PairDocument]
    raters: list[RaterDocument]
    warnings: list[NoteDocument]


class RaterGroupDocument(TypedDict):
    """Agreement of the raters of one group with each other."""

    group: str
    n_raters: int
    n_items: int
    n_items_pairable: int
    n_ratings: int
    percent_agreement: EstimateDocument
    fleiss_kappa: EstimateDocument
    krippendorff_alpha: EstimateDocument


class ComparedTierDocument(TypedDict):
    """Of the ``n`` items of a counted tier, how many the model expects of each."""

    counted: str
    n: int
    expected: dict[str, float]


class TierPlanDocument(TypedDict):
    """Which kappas an item can have, by tier, and what would leave no tier empty."""

    n_raters: int
    n_categories: int
    chance_agreement: float
    cuts: list[float]
    values: list[float]
    bands: dict[str, list[float]]
    empty_bands: list[str]
    overlap: int | None
    suggested_cuts: list[float] | None


class ShiftedTiersDocument(TypedDict):
    """Items by tier with all cuts moved by ``shift``."""

    shift: float
    cuts: list[float]
    counts: dict[str, int]


class TierGroupDocument(TypedDict):
    """A group of items: agreement, its tier, and those that the interval allows."""

    group: str
    n_items: int
    fleiss_kappa: EstimateDocument
    percent_agreement: EstimateDocument
    tier: str | None
    tier_low: str | None
    tier_high: str | None


class AnnotatorReportDocument(TypedDict):
    """All annotators of a table, the pairs that say the same, and what to look at."""

    categories: list[Label]
    annotators: list[dict[str, object]]
    identical: list[list[str]]
    warnings: list[NoteDocument]


class SideBiasDocument(TypedDict):
    """Which place people prefer, by place how much more often than by chance, and the places that each chose."""

    effect: EstimateDocument
    unit: str
    excess: dict[str, EstimateDocument]
    annotators: list[dict[str, str | int | float | None]]


class ForecastDocument(TypedDict):
    """Periods until the ``remaining`` labels are there; it rests on ``n_periods`` with ``mean`` labels each."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    remaining: int
    n_periods: int
    mean: float | None
    confidence: float


class GrowthPointDocument(TypedDict):
    """Agreement of the first ratings, by the names of coefficients."""

    n_ratings: int
    n_items: int
    coefficients: dict[str, EstimateDocument]


class DistanceDocument(TypedDict):
    """Mean distance of the judge, and of a person, from people's distribution, and the first minus the second."""

    judge: EstimateDocument
    person: EstimateDocument
    difference: EstimateDocument


class SourcesDocument(TypedDict):
    """Parts of people's disagreement; ``moved`` are ratings under another version of the guideline than most."""

    observed: EstimateDocument
    expected: EstimateDocument
    severity: EstimateDocument
    carelessness: EstimateDocument
    items: EstimateDocument
    guideline: EstimateDocument
    moved: int


class TasteDocument(TypedDict):
    """What two camps of people gain in bits a rating, and by person the camp, 0 or 1."""

    gain: EstimateDocument
    camps: dict[str, int]


class GoldItemDocument(TypedDict):
    """An item's gold, where it comes from and how sure it is, 0 to 1; or why it has none, and what is tied."""

    item: str
    gold: Label | None
    source: str | None
    confidence: float | None
    reason: str | None
    candidates: list[Label]


class GoldHead(TypedDict):
    """How gold is made, and items by where it comes from or why there is none; ``tied`` have a tie for the first."""

    method: str
    cuts: list[float]
    chance: str
    min_ratings: int
    min_posterior: float
    counts: dict[str, int]
    tied: int


class GoldItems(GoldHead):
    """The same with the items."""

    items: list[GoldItemDocument]
