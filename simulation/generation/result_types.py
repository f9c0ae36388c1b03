"""Shapes of the JSON documents that this room makes, stores and reads; at run time each is a dict."""

from __future__ import annotations

from typing import TypedDict, final

MadeRecords = list[list[str | int]]
"""What an order made: of each record its kind and id."""


class ReplyCostDocument(TypedDict):
    """What a reply took; None where it is not known."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class ResponseOpinionDocument(TypedDict):
    """What a checker says of a response."""

    answers: bool
    same_language: bool
    level: str


@final
class OrdersDocument(TypedDict):
    """How far orders of candidates are, and what they have cost; None where no price is known."""

    orders: int
    done: int
    running: int
    failed: int
    replies: int
    candidates: int
    cost_usd: float | None
    problems: list[str]


class PairRuleDocument(TypedDict):
    """How pairs are made."""

    against: list[list[str]]
    length: float
    same_form: bool
    near: float
    each: int


@final
class MadePairsDocument(TypedDict):
    """Pairs that were made: how many, of which levels, and what was left out, by reason."""

    pairs: int
    created: int
    unchanged: int
    levels: dict[str, int]
    left_out: dict[str, int]
    rule: PairRuleDocument
    seed: int
    source: str


class StageRow(TypedDict):
    """What a stage made, and what does not go on, by reason."""

    what: str
    n: int
    left_out: dict[str, int]


@final
class SeedRunDocument(TypedDict):
    """How a run from seeds stands; `unfit` are replies that did not fit, by what was wrong."""

    run: int
    name: str
    stage: str
    state: str
    problem: str
    orders: int
    done: int
    failed: int
    spent_usd: str
    stages: list[StageRow]
    unfit: dict[str, int]
    pairs: int


class StageShareDocument(TypedDict):
    """The requests of one kind to one agent; None where a price or a time is not known."""

    kind: str
    agent: str
    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float | None


class SeedEstimateDocument(TypedDict):
    """What a run from seeds will take, what that rests on, and `why` something is not known."""

    stages: list[StageShareDocument]
    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float | None
    basis: str
    why: list[str]


@final
class EstimatedSeedRunDocument(TypedDict):
    """What a run from seeds will take, in place of one."""

    run: None
    estimate: SeedEstimateDocument
