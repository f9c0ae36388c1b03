"""What the API answers, as far as the client gives it a type. A test holds these to the OpenAPI document."""

from __future__ import annotations

from typing import Any, TypedDict


class Criterion(TypedDict):
    """A question with its scale."""

    key: str
    name: str
    question: str
    guideline: str
    guideline_version: int
    unit: str
    level: str
    categories: list[dict[str, str]]


class Project(TypedDict):
    """People who work together."""

    id: int
    name: str
    slug: str
    n_members: int
    n_owners: int
    is_chosen: bool
    created_at: str


class Member(TypedDict):
    """What one account may do in a project."""

    user: str
    role: str
    created_at: str


class Study(TypedDict):
    """A study with its criteria and the number of its items."""

    id: int
    name: str
    slug: str
    project: str
    kind: str
    state: str
    description: str
    instructions: str
    overlap: int
    shown: list[str]
    asks_strength: bool
    seed: int
    created_at: str
    n_items: int
    criteria: list[Criterion]


class Sample(TypedDict):
    """One draw of items."""

    id: int
    method: str
    strata: list[str]
    filters: dict[str, list[str]]
    frame_size: int
    size: int
    seed: int
    input_hash: str
    created_at: str


class Item(TypedDict):
    """An item with the dialogue or the pair that is rated."""

    position: int
    item_id: str
    item_source: str
    stratum: str
    inclusion_probability: float
    dialogue: dict[str, Any] | None
    pair: dict[str, Any] | None


class Label(TypedDict):
    """One answer of one rater to one criterion of one item."""

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
    evidence: list[dict[str, Any]]
    active_seconds: float | None
    turn: int | None


class Counts(TypedDict):
    """What an import did."""

    created: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[dict[str, Any]]
    warnings: list[str]


class Assignment(TypedDict):
    """An item in one's own work, as it is shown."""

    id: int
    study: str
    state: str
    leased_until: str | None
    turns: list[dict[str, str]] | None
    question: str | None
    question_context: str | None
    responses: dict[str, str] | None
    context: list[dict[str, Any]]
    criteria: list[dict[str, Any]]
    asks: list[str]
    entered: dict[str, str]


class Judge(TypedDict):
    """One version of a judge."""

    id: int
    title: str
    name: str
    version: int
    project: str
    provider: str
    model: str
    parameters: dict[str, Any]
    kind: str
    daily_budget_usd: str | None
    created_at: str


class Run(TypedDict):
    """One judge over the items of one study."""

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
    result: dict[str, Any]
    created_at: str
    finished_at: str | None
    stopped_at: str | None


class Progress(TypedDict):
    """A run, counted."""

    state: str
    expected: int
    judged: int
    scored: int
    unscored: dict[str, int]
    missing: int
    troubles: list[str]
    rate: float | None
    seconds_left: float | None
    workers: int
    needs_worker: bool
    can_resume: bool
    spent_usd: str


class LabelPlan(TypedDict):
    """A study of items drawn to be labelled next."""

    study: str
    criterion: str
    parameters: dict[str, Any]
    seed: int
    could_be_drawn: int
    created_at: str


class Judgment(TypedDict):
    """One verdict of a judge, or the reason why its reply held none."""

    id: int
    run: int
    position: int
    criterion: str
    repeat: int
    order: str
    turn: int
    alteration: str
    value: str
    unscored_reason: str
    score: float | None
    explanation: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: str | None
    created_at: str


class Benchmark(TypedDict):
    """One version of a benchmark of binary choices."""

    id: int
    name: str
    version: str
    slug: str
    project: str
    state: str
    parent: str | None
    study: str | None
    notes: str
    made: dict[str, Any]
    input_hash: str
    code_version: str
    created_at: str
    released_at: str | None
    n_cases: int
    n_counting: int


class Case(TypedDict):
    """A case of a benchmark; votes are None where nobody knows them."""

    id: int
    case: str
    persona: str | None
    pair: dict[str, Any]
    kind: str
    tier: str
    gold: str
    votes_1: int | None
    votes_2: int | None
    votes_tie: int | None
    kappa: float | None
    split: str
    excluded_reason: str
    history: list[dict[str, Any]]


class Evaluation(TypedDict):
    """Some cases of a benchmark, answered by judges in several settings."""

    id: int
    benchmark: str
    number: int
    study: str
    drawn: dict[str, Any]
    n_cases: int
    n_runs: int
    n_running: int
    input_hash: str
    code_version: str
    created_at: str


class Webhook(TypedDict):
    """An address that is told of events; `secret` is known when it is made."""

    id: int
    project: str
    url: str
    events: list[str]
    created_by: str
    created_at: str
    ended_at: str | None
    secret: str


class Rules(TypedDict):
    """The rules of a study's queue."""

    check_every: int | None
    repeat_every: int | None
    repeat_after: int
    item_limit: int | None
    pass_mark: float | None


class KnownItem(TypedDict):
    """An item with known answers, by what they answer."""

    id: int
    item_id: str
    item_source: str
    purpose: str
    round: int
    position: int
    origin: str
    answers: dict[str, Any]
    answered: int
    created_at: str
    retired_at: str | None


class Admission(TypedDict):
    """A result of the qualification, or a decision on one."""

    id: int
    annotator: str
    outcome: str
    round: int
    asked: int
    right: int
    pass_mark: float
    decided_by: str | None
    reason: str
    created_at: str


class Invitation(TypedDict):
    """A link into a study, without the link."""

    id: int
    platform: str
    note: str
    max_uses: int | None
    joined: int
    expires_at: str | None
    closed: str
    created_by: str | None
    created_at: str
    revoked_at: str | None


class MadeInvitation(Invitation):
    """With what is told once."""

    token: str
    path: str


class Intake(TypedDict):
    """How people come into a study."""

    is_public: bool
    public_path: str | None
    completion_code: str
    completion_url: str
    consent_text: str | None
    consent_hash: str | None


class Participant(TypedDict):
    """Somebody who is or was in a study."""

    annotator: str
    came_by: str
    platform: str
    platform_id: str
    joined_at: str | None
    decision: str
    text_hash: str
    decided_at: str | None
    erased: int | None
    submitted: int
    completed_at: str | None
    completion_code: str


class Question(TypedDict):
    """What people are asked about themselves."""

    key: str
    text: str
    options: list[str]
    position: int


class Act(TypedDict):
    """One act of a researcher."""

    number: int
    at: str
    who: str | None
    who_id: int | None
    operator: str
    verb: str
    kind: str
    object_id: int | None
    name: str
    study_id: int | None
    project_id: int | None
    through: str
    request_id: str
    arguments: dict[str, Any]
    outcome: Any
    previous: str
    digest: str
