"""Shapes of the JSON document of what a judge's run says; at run time each is a dict."""

from __future__ import annotations

from typing import TypedDict

from annotation.stats.result_types import EstimateDocument


class ScoreCountsDocument(TypedDict):
    """Items and judgments, how many with a verdict, how many without one by reason, and how many of each value."""

    n_items: int
    n_judgments: int
    scored: int
    unscored: dict[str, int]
    counts: dict[str, int]


class ValueShareDocument(TypedDict):
    """A value, how often it was said, and its share."""

    value: str
    label: str
    n: int
    share: EstimateDocument | None


class GroupScoreDocument(ScoreCountsDocument):
    """The mean of a group of items."""

    group: str
    estimate: EstimateDocument | None


class TurnScoreDocument(ScoreCountsDocument):
    """The mean of a turn of the assistant, or of a response, from 1."""

    turn: int
    estimate: EstimateDocument | None


class CriterionScoresDocument(ScoreCountsDocument):
    """What a run says on a criterion; ``measure`` is what is averaged, ``least`` and ``most`` the ends of its scale."""

    name: str
    unit: str
    level: str
    measure: str
    by_probabilities: int
    least: float | None
    most: float | None
    overall: EstimateDocument | None
    weighted: EstimateDocument | None
    distribution: list[ValueShareDocument]
    groups: list[GroupScoreDocument]
    turns: list[TurnScoreDocument]


class ScoresDocument(TypedDict):
    """What a run says, by criterion key."""

    run: int
    study: str
    judge: str
    kind: str
    state: str
    every_turn: bool
    unit: str
    by: str
    reads: str
    resampled: str
    bootstrap: int
    confidence: float
    seed: int
    criteria: dict[str, CriterionScoresDocument]
