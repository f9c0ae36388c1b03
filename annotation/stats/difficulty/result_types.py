"""Shapes of the JSON documents that results of the difficulty model become; at run time each is a dict."""

from typing import Literal, NotRequired, TypedDict

from annotation.stats.result_types import EstimateDocument


class PersonFitDocument(TypedDict):
    """A person of the difficulty model: traits in standard deviations, and mean squares, which are 1 where they fit.

    ``name`` is what pages call them.
    """

    person: str
    name: NotRequired[str]
    n_ratings: int
    severity: EstimateDocument
    consistency: EstimateDocument
    order: EstimateDocument
    infit: float | None
    outfit: float | None


class ItemDifficultyDocument(TypedDict):
    """An item by the difficulty model: probability that two fresh people disagree, and of each tier and answer."""

    item: str
    difficulty: EstimateDocument
    tiers: dict[str, float | None]
    tier: str | None
    clear: bool
    soft_label: dict[str, float] | None


class DifficultyHead(TypedDict):
    """What the difficulty model says of a table: expected items by tier, how many are clear, its people."""

    method: str
    cuts: list[float]
    expected_counts: dict[str, float]
    clear: int
    people: list[PersonFitDocument]
    thresholds: list[list[float]]
    reasons: list[str]


class DifficultyItems(DifficultyHead):
    """The same with its items."""

    items: list[ItemDifficultyDocument]


class WantedItemDocument(TypedDict):
    """An item without a clear tier: chance to become clear within some more ratings, and how many that takes.

    On a study also its position, its turn or response, and whether a rating of it is still to come.
    """

    item: str
    chance: float
    ratings: float
    rate: float
    likely: bool
    certainty: list[float]
    clear_within: list[float]
    position: NotRequired[int]
    turn: NotRequired[int]
    is_waiting: NotRequired[bool]


class MoreRatingsDocument(TypedDict):
    """What up to ``ahead`` more ratings of each unclear item would tell; on a study, how many wait for ratings."""

    items: list[WantedItemDocument]
    n_items: int
    n_clear: int
    n_unclear: int
    n_first: int
    ahead: int
    clear_from: float
    ratings: EstimateDocument
    settled: EstimateDocument
    n_waiting: NotRequired[int]


class PredictionBinDocument(TypedDict):
    """Items of like predicted difficulty: what is predicted, and what was seen."""

    predicted: float
    n_items: int
    observed: EstimateDocument
    hard_predicted: float
    hard_fitted: EstimateDocument


ErrorFigure = Literal["rank_correlation", "squared_error", "squared_error_of_mean", "gain", "slope"]
"""The figures of `PredictionErrorDocument`."""


class PredictionErrorDocument(TypedDict):
    """Errors of predicted difficulty, out of sample."""

    predicts: bool
    rank_correlation: EstimateDocument
    squared_error: EstimateDocument
    squared_error_of_mean: EstimateDocument
    gain: EstimateDocument
    slope: EstimateDocument
    bins: list[PredictionBinDocument]


class BlurDocument(TypedDict):
    """Items by predicted and fitted tier, and the mean probability of the likeliest tier by either."""

    predicted_by_fitted: dict[str, dict[str, float]]
    sure_predicted: float
    sure_fitted: float


class PredictedItemDocument(TypedDict):
    """An item that nobody rated: its predicted difficulty, and the probability of each tier."""

    item: str
    difficulty: EstimateDocument
    tiers: dict[str, float]
    tier: str


class PredictedHead(TypedDict):
    """How far predicted difficulties are off, by which features, and how many items to expect of each tier."""

    cuts: list[float]
    error: PredictionErrorDocument
    reason: str | None
    slopes: dict[str, float]
    n_rated: int
    blur: BlurDocument
    expected_counts: dict[str, float]
    seed: int


class PredictedItems(PredictedHead):
    """The same with the items."""

    items: list[PredictedItemDocument]
