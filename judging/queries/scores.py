"""What a run said, row by row, with what its judgments can be grouped and resampled by."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from django.db.models.functions import Coalesce

from annotation.models import Study
from annotation.queries.items import groups
from judging.models import JudgeRun
from judging.queries.requests import assistant_turns


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One judgment.

    Attributes
    ----------
    position
        Of its item in the study.
    value, reason
        The verdict, or why there is none.
    score
        Mean over the scale, where the judge told probabilities.
    turn
        The turn that it is of, counted among the assistant's from 1; 0 for the whole item.
    """

    position: int
    value: str
    reason: str
    score: float | None
    turn: int


@dataclass(frozen=True)
class ScoredRun:
    """All judgments of a run by criterion, and by item position the item's group and cluster."""

    rows: dict[int, list[ScoredRow]]
    groups: dict[int, str]
    clusters: dict[int, str]


def of_run(run: JudgeRun, *, by: str) -> ScoredRun:
    """In a constant number of queries. InputError where items cannot be grouped so."""
    grouped, places = groups(run.study, by), places_of(run)
    rows: dict[int, list[ScoredRow]] = defaultdict(list)
    said = (
        run.judgments.of_items()
        .order_by("item__position", "turn", "repeat", "order")
        .values_list("criterion_id", "item__position", "value", "unscored_reason", "score", "turn")
    )
    for criterion, position, value, reason, score, turn in said.iterator(chunk_size=5000):
        place = max(1, bisect_right(places[position], turn)) if turn else 0
        rows[criterion].append(ScoredRow(position, value, reason, score, place))
    return ScoredRun(rows, grouped, clusters_of(run.study))


def places_of(run: JudgeRun) -> dict[int, tuple[int, ...]]:
    """By item position, where the assistant's turns stand in the dialogue; empty for a run on whole items."""
    if not run.every_turn:
        return {}
    dialogues = run.study.items.order_by("position").values_list("position", "dialogue__turns")
    return {position: assistant_turns(turns) for position, turns in dialogues.iterator(chunk_size=500)}


def clusters_of(study: Study) -> dict[int, str]:
    """By item position, whose it is: the profile, or the item itself where no profile is known."""
    profile = Coalesce("dialogue__scenario__profile", "pair__profile")
    return {
        position: f"item {position}" if pk is None else f"profile {pk}"
        for position, pk in study.items.values_list("position", profile)
    }
