"""What the API answers of labels and decisions."""

from __future__ import annotations

from typing import Any, TypedDict

from concord_client.types.studies import Criterion


class DecidedStudy(TypedDict):
    """A study in which the caller decides what people disagree on."""

    id: int
    name: str
    slug: str
    project: str
    kind: str
    state: str
    n_decided: int


class Label(TypedDict):
    """One answer of one rater to one criterion of one item, in the columns of the export."""

    study: str
    item_id: str
    item_source: str
    position: int
    stratum: str
    inclusion_probability: float
    criterion: str
    rater: str
    rater_kind: str
    value: str
    unscored_reason: str
    order: str
    slot: int | None
    repeat: int | None
    note: str
    guideline_version: int | None
    submitted_at: str | None
    judge_run: int | None
    excluded: bool
    strength: str
    evidence: list[Any]
    active_seconds: float | None
    turn: int | None


class Exclusion(TypedDict):
    """Exclusion."""

    id: int
    annotator: str
    reason: str
    decided_by: str
    created_at: str
    ended_by: str | None
    ended_at: str | None
    end_reason: str


class Stretch(TypedDict):
    """The mean mark of a stretch of one annotator's checks or repeats, in the order in which they were given."""

    annotator: str
    kind: str
    first_item: int
    last_item: int
    until: str
    items: int
    value: float | None
    low: float | None
    high: float | None


class Dispute(TypedDict):
    """An item on which people gave more than one answer."""

    position: int
    turn: int
    answers: list[list[Any]]
    spread: int | None
    kappa: float | None
    tier: str
    decision: str


class Adjudication(TypedDict):
    """Adjudication."""

    id: int
    criterion: str
    turn: int
    value: str
    reason: str
    method: str
    basis: Any
    decided_by: str
    created_at: str


class DisputedItem(TypedDict):
    """An item as whoever decides sees it: not which model wrote it, and not who said what."""

    position: int
    turn: int
    criterion: Criterion
    turns: list[Turn] | None
    question: str | None
    responses: dict[str, str] | None
    context: list[Context]
    voices: list[Voice]
    decisions: list[Adjudication]


class Turn(TypedDict):
    """Turn."""

    role: str
    content: str


class Context(TypedDict):
    """One part of what is shown beside an item."""

    key: str
    title: str
    text: str
    facts: list[list[str]]
    entries: list[str]


class Voice(TypedDict):
    """One person's answer, under a letter that says nothing of who it is."""

    name: str
    label: str
    unscored_reason: str
    strength: str
    note: str
    evidence: list[str]


class Override(TypedDict):
    """Override."""

    id: int
    criterion: str
    tier: str
    before: str
    reason: str
    decided_by: str
    created_at: str


class Late(TypedDict):
    """Complete answers that arrived when their slot could not take them."""

    id: int
    annotator: str
    position: int | None
    state: str
    content: Any
    late_reason: str
    saved_at: str


class Tool(TypedDict):
    """Another tool's files that the study can be written as, and what that tool does not show."""

    key: str
    title: str
    files: list[str]
    unseen: list[str]
