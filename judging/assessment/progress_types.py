"""Shapes of the JSON documents on a study under way: how far it has come, and what to label next."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from annotation.stats.result_types import ForecastDocument, GrowthPointDocument
from judging.stats.result_types import ActiveMeanDocument, NeededLabelsDocument, PowerDocument


class PlannedItemDocument(TypedDict):
    """An item that is drawn, with its probability, the judge's confidence, and how many labels it would give."""

    position: int
    probability: float
    confidence: float | None
    labels: int


class PlanReturnDocument(ActiveMeanDocument):
    """What came back of the study that was made of a plan."""

    study: str
    slug: str
    noun: str


class LabellingPlanDocument(TypedDict):
    """How many labels a criterion needs for an interval of this width, and which items are drawn; a command adds the
    study that was made of them.
    """

    criterion: str
    judge: str
    part: str
    estimand: str
    width: float
    by: str
    confidence: float
    seed: int
    needed: NeededLabelsDocument | None
    reason: str | None
    no_draw: str | None
    cluster_draw: str | None
    allocation: dict[str, int]
    could_be_drawn: int
    items: list[PlannedItemDocument]
    came_back: PlanReturnDocument | None
    power: list[PowerDocument]
    study: NotRequired[str]
    slug: NotRequired[str]


class CoverageDocument(TypedDict):
    """Items of a group, and how many of them have 0, 1, 2, … ratings."""

    group: str
    items: int
    by_ratings: list[int]


class PeriodDocument(TypedDict):
    """Ratings of an hour or a day."""

    start: str
    ratings: int


class PaceDocument(TypedDict):
    """Ratings by period, and those since the last full hour."""

    unit: str
    periods: list[PeriodDocument]
    since_the_last_full_hour: int


class WorkingAnnotatorDocument(TypedDict):
    """An annotator's ratings: all, of the last day, and per day; ``held`` are begun or skipped."""

    annotator: str
    name: str
    is_simulated: bool
    excluded: bool
    ratings: int
    last_day: int
    per_day: float | None
    held: int
    first: str | None
    last: str | None


class StudyForecastDocument(ForecastDocument):
    """When the ratings that are missing will be there: ``end`` by the names of value, low and high."""

    unit: str
    assumption: str
    end: dict[str, str | None]


class CriterionGrowthDocument(TypedDict):
    """Agreement on a criterion as the labels came."""

    key: str
    name: str
    points: list[GrowthPointDocument]


class GrowthDocument(TypedDict):
    """Agreement as it grows, and which items it rests on: every ``every``-th."""

    criteria: list[CriterionGrowthDocument]
    items_read: int
    items_rated: int
    every: int
    dependence: str
    seed: int


class NeedsHelpDocument(TypedDict):
    """An annotator whom somebody should look at, and why."""

    annotator: str
    name: str
    reasons: list[str]


class RoundCounts(TypedDict):
    """Items of the last round of an adaptive study."""

    n_asked: int
    n_clear: int
    n_enough: int
    n_full: int
    n_short: int
    n_waiting: int


class OverlapRoundDocument(RoundCounts):
    """The last round: ratings it read, what a rating was worth, and why it asked for none."""

    at: str
    number: int
    n_ratings: int
    price: float
    reason: str


class AdaptiveDocument(TypedDict):
    """Ratings of an adaptive study beside those of as many as one may for all, and the share that is saved."""

    most_overlap: int | None
    submitted: int
    planned: int
    for_all: int
    saved: float | None
    is_due: bool
    last: OverlapRoundDocument | None


class ProgressDocument(TypedDict):
    """How far a study has come."""

    study: str
    state: str
    at: str
    items: int
    overlap: int
    planned: int
    submitted: int
    remaining: int
    excluded_annotators: int
    coverage: list[CoverageDocument]
    all: list[int]
    pace: PaceDocument
    annotators: list[WorkingAnnotatorDocument]
    forecast: StudyForecastDocument
    growth: GrowthDocument
    needs_help: list[NeedsHelpDocument]
    adaptive: AdaptiveDocument | None
