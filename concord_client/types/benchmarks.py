"""What the API answers of benchmarks."""

from __future__ import annotations

from typing import Any, TypedDict


class Benchmark(TypedDict):
    """One version of a benchmark, with how many cases it has and on how many of them models are scored."""

    id: int
    name: str
    version: str
    slug: str
    project: str
    state: str
    parent: str | None
    study: str | None
    notes: str
    made: Any
    input_hash: str
    code_version: str
    created_at: str
    released_at: str | None
    n_cases: int
    n_counting: int


class Case(TypedDict):
    """A case with gold, votes (null where nobody knows them) and what happened to it; `pair` holds the texts."""

    id: int
    case: str
    persona: str | None
    pair: PairTexts
    kind: str
    tier: str
    gold: str
    votes_1: int | None
    votes_2: int | None
    votes_tie: int | None
    kappa: float | None
    split: str
    excluded_reason: str
    history: Any


class PairTexts(TypedDict):
    """PairTexts."""

    question: str
    context: str
    response_1: str
    response_2: str
    model_1: str
    model_2: str
    kind: str


class Evaluation(TypedDict):
    """Some cases of a benchmark, answered by judges in several settings, each in a run of its own."""

    id: int
    benchmark: str
    number: int
    study: str
    drawn: Any
    n_cases: int
    n_runs: int
    n_running: int
    input_hash: str
    code_version: str
    created_at: str


class Candidate(TypedDict):
    """A response to a question of a profile at a stated level of personalization."""

    id: int
    profile: int
    question: str
    kind: str
    level: str
    provider: str
    model: str
    text: str
    extra: Any
    created_at: str


class Counts(TypedDict):
    """What an import did, by kind of row."""

    created: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[Any]
    warnings: list[str]
    study: str | None
    errors_file: str


class CandidateRun(TypedDict):
    """Candidates ordered together: how many questions, how many answered at every level, how many failed."""

    id: int
    name: str
    project: str
    agent: str
    levels: Any
    seed: int
    budget_usd: str | None
    created_at: str
    stopped_at: str | None
    n_total: int
    n_done: int
    n_failed: int


class Resumed(TypedDict):
    """Resumed."""

    n: int


class Stopped(TypedDict):
    """Stopped."""

    n: int


class Failure(TypedDict):
    """An answer that names another response than people chose, with everybody's tags."""

    id: int
    run: int
    judge: str
    setting: Any
    position: int
    tier: str
    kind: str
    order: str
    value: str
    gold: str
    confidence: float | None
    explanation: str
    tags: list[dict[str, str]]


class EvaluationRun(TypedDict):
    """A run with the setting in which its judge is asked."""

    id: int
    study: str
    judge: Judge
    criteria: list[str]
    state: str
    kind: str
    repeats: int
    order_policy: str
    seed: int
    budget_usd: str | None
    use_cache: bool
    every_turn: bool
    in_bulk: bool
    input_hash: str
    code_version: str
    stop_reason: str
    result: Any
    created_at: str
    finished_at: str | None
    stopped_at: str | None
    setting: Any


class Judge(TypedDict):
    """One version of a judge."""

    id: int
    title: str
    name: str
    version: int
    project: str
    provider: str
    model: str
    parameters: Any
    kind: str
    daily_budget_usd: str | None
    created_at: str


class Round(TypedDict):
    """One decision on the items of a study by a stated rule: how many items had each outcome."""

    id: int
    number: int
    rule: Any
    seed: int
    follow_up: str | None
    outcomes: dict[str, int]
    input_hash: str
    code_version: str
    created_at: str
