"""What the API answers of judges, runs and results."""

from __future__ import annotations

from typing import Any, TypedDict

from concord_client.types.benchmarks import Judge


class Checked(TypedDict):
    """Whether a certificate holds, and why not."""

    sha256: str
    state: str
    holds: bool
    problems: list[str]
    notes: list[str]


class Certificate(Checked):
    """A certificate as `verify_certificate` takes it, and whether it holds now."""

    document: dict[str, Any]


class Contradiction(TypedDict):
    """An item on which a judge contradicts the majority of people; what it said is not told."""

    position: int
    turn: int
    answers: list[list[Any]]
    judges: list[str]
    steps: int | None
    tier: str
    decision: str


class Escalation(TypedDict):
    """Escalation."""

    study: str
    target_agreement: float
    thresholds: Any


class HoldOut(TypedDict):
    """HoldOut."""

    id: int
    share: float
    seed: int
    created_at: str


class Issued(TypedDict):
    """A certificate on a list; its own address says whether it holds."""

    sha256: str
    created_by: str | None
    created_at: str
    revoked_at: str | None


class PublicKey(TypedDict):
    """A public key of the site, in hexadecimal."""

    key_id: str
    public_key: str
    signs: bool


class SigningKeys(TypedDict):
    """The keys that check this site's certificates, the one that signs first."""

    algorithm: str
    keys: list[PublicKey]


class Queued(TypedDict):
    """Queued."""

    queued: bool


class Disagreement(TypedDict):
    """An item on which the judge's verdict is not people's label. Held-out items are not among them."""

    item: int
    criterion: str
    tier: str | None
    people: dict[str, str]
    label: Any
    adjudicated: bool
    judge: str
    size: float
    confidence: float | None


class LabelPlan(TypedDict):
    """A study of items drawn to be labelled next."""

    study: str
    criterion: str
    parameters: Any
    seed: int
    could_be_drawn: int
    created_at: str


class RatedItem(TypedDict):
    """An item, or a turn of it, with what was said of it on one criterion; of a held-out item by people only."""

    position: int
    turn: int
    counts: list[Any]
    majority: str
    tied: bool
    tier: str
    judges: list[Any]


class HeldLimits(TypedDict):
    """What a judge may cost in a day and has cost today, and how fast its model may be asked; null is no limit."""

    daily_budget_usd: str | None
    spent_today_usd: str
    requests_per_minute: int | None
    tokens_per_minute: int | None


class Tested(TypedDict):
    """Tested."""

    answer: str


class Price(TypedDict):
    """What a model costs from a day on, in US dollars per million tokens."""

    id: int
    provider: str
    model: str
    valid_from: str
    input: str
    output: str
    cache_read: str | None
    cache_write: str | None
    batch_input: str | None
    batch_output: str | None
    note: str


class PublishedPrice(TypedDict):
    """What a model costs as its provider publishes it; `above` so many tokens of a prompt."""

    provider: str
    model: str
    valid_from: str
    above: int
    input: str
    output: str
    cache_read: str | None
    cache_write: str | None
    batch_input: str | None
    batch_output: str | None


class EarlierReply(TypedDict):
    """A reply that held no verdict, after which the judge was asked again."""

    number: int
    unscored_reason: str
    explanation: str
    raw_reply: str
    cost_usd: str | None
    created_at: str


class JudgmentWhole(TypedDict):
    """With the reply and what the provider measured."""

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
    raw_reply: str
    details: Any
    item_hash: str
    earlier: list[EarlierReply]


class Prompt(TypedDict):
    """What the judge was asked, made again from the item as it is now."""

    system: str
    user: str
    version: str
    is_same: bool


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
    result: Any
    created_at: str
    finished_at: str | None
    stopped_at: str | None


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


class RunProgress(TypedDict):
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
    can_ask_again: int
    again_usd: str | None
    spent_usd: str


class Probe(TypedDict):
    """A run on altered copies, with what was altered."""

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
    probe: Any


class Estimate(TypedDict):
    """What a run will take; null where it cannot be known, and `why` says why not."""

    requests: int
    cached: int
    input_tokens: int
    output_tokens: int
    too_long: int
    usd: str | None
    seconds: float | None
    basis: list[str]
    why: list[str]
