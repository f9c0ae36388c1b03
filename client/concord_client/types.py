"""What the API takes and answers, written from its OpenAPI document by `make client`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from concord_client.transport import Json


class Act(TypedDict):
    """One act; people are accounts by number, and `digest` is over the act and the `digest` of the one before."""

    number: int
    """From 1 without gaps, in the order of the chain."""
    at: str
    who: str | None
    who_id: int | None
    operator: str
    """Account of the machine, of a command."""
    verb: str
    """What was done, such as study.open."""
    kind: str
    """What it was done to, or what it made."""
    object_id: int | None
    name: str
    """Its name then. People are known by number only."""
    study_id: int | None
    """The study that it concerns."""
    project_id: int | None
    """The project whose members see it."""
    through: Literal["page", "api", "command", "other"]
    request_id: str
    """As in the log of the web server."""
    arguments: Any
    outcome: Any
    previous: str
    """`digest` of the act before."""
    digest: str
    digest_key_id: str
    """Key of the digest; empty where it is a SHA-256 without a key."""


class Adjudication(TypedDict):
    id: int
    criterion: str
    turn: int
    """The turn decided on, from 1; 0 for the whole item."""
    value: str
    reason: str
    method: Literal["adjudicated", "stated"]
    basis: Json
    decided_by: str
    created_at: str


class Admission(TypedDict):
    """A result of training and qualification, or a person's decision on one. The newest of somebody holds."""

    id: int
    annotator: str
    outcome: Literal["passed", "failed", "admitted", "again"]
    round: int
    """Which try of theirs, from 1."""
    asked: int
    """Known answers of the round."""
    right: int
    """Answers that were right."""
    pass_mark: float
    """Share of right answers that was asked for."""
    decided_by: str | None
    reason: str
    created_at: str


class Agent(TypedDict):
    """Who speaks. Parameters are as the provider takes them; never a key."""

    provider: str
    model: NotRequired[str]
    parameters: NotRequired[Mapping[str, object]]


class Annotator(TypedDict):
    """An annotator of a study with what they have done in it."""

    annotator: Person
    submitted: int
    in_work: int
    skipped: int


class Answer(TypedDict):
    """A value, or the reason why there is none."""

    value: NotRequired[str]
    """A category; several joined by |, - for none of them; a number; a ranking such as B>A; a text; of spans JSON: a list of part, start, end and category. Of a preference A, B, tie; A:much with strength."""
    unscored_reason: NotRequired[str]
    note: NotRequired[str]
    evidence: NotRequired[Sequence[Mark]]
    guideline_version: NotRequired[int]
    """That was shown; the newest if not given."""


class Asked(TypedDict):
    """A question of one profile."""

    profile: int
    question: str
    kind: NotRequired[str]


class AskedCategory(TypedDict):
    """A possible answer."""

    value: str
    label: str
    guideline: NotRequired[str]


class AskedCriterion(TypedDict):
    """A question with its answers: of a pair A, B and perhaps a tie, whichever response they are."""

    key: str
    name: str
    question: str
    guideline: str
    guideline_version: int
    type: str
    """choice, number, several, ranking, spans, text or rewrite."""
    unit: str
    limits: Any
    """Bounds and the like, by type."""
    help: str
    examples: list[Any]
    is_required: bool
    only_if: str
    """When it is asked, in words; empty for always."""
    categories: list[AskedCategory]


class AssessedJudge(TypedDict):
    """Calibration and audits of one judge, as `calibration` and `audit` give them."""

    calibration: Json
    audit: Json


class AssessedJudges(TypedDict):
    """All judges of a study side by side."""

    study: str
    judges: dict[str, AssessedJudge]
    """By name."""
    differences: list[Json]
    waiting: list[str]
    """Judges that are left to a worker."""


class Assignment(TypedDict):
    """An item in my work, as it is shown to me."""

    id: str
    """A name that tells nothing of what the item is for."""
    study: str
    state: str
    leased_until: str | None
    turns: list[Turn] | None
    """Of a dialogue."""
    question: str | None
    """Of a pair."""
    question_context: str | None
    responses: dict[str, str] | None
    """Of a pair, by side: A and B."""
    context: list[Context]
    criteria: list[AskedCriterion]
    asks: list[str]
    """Names of all answers that are asked for: a criterion's key, with the turn or the side behind a full stop where every turn or response is rated."""
    entered: dict[str, str]
    """What I have said so far, draft included."""


class Benchmark(TypedDict):
    """One version of a benchmark, with how many cases it has and on how many of them models are scored."""

    id: int
    name: str
    version: str
    slug: str
    project: str
    state: Literal["draft", "released"]
    parent: str | None
    study: str | None
    """Whose votes made it."""
    notes: str
    made: Json
    """How: rule, parameters, seed, counts, known issues."""
    input_hash: str
    """Of the votes or files it was made from."""
    code_version: str
    created_at: str
    released_at: str | None
    n_cases: int
    n_counting: int
    """Those with gold that no rule left out."""


class Candidate(TypedDict):
    """A response to a question of a profile at a stated level of personalization."""

    id: int
    profile: int
    question: str
    kind: str
    """general, specific, …"""
    level: Literal["none", "generic", "full", "over"]
    provider: str
    """Who wrote it; imported where it came from a file."""
    model: str
    text: str
    extra: Json
    created_at: str


class CandidateRun(TypedDict):
    """Candidates ordered together: how many questions, how many answered at every level, how many failed."""

    id: int
    name: str
    project: str
    agent: str
    levels: Any
    """Those asked for, from nothing of the person to too much."""
    seed: int
    budget_usd: str | None
    created_at: str
    stopped_at: str | None
    """When a person stopped it."""
    n_total: int
    n_done: int
    n_failed: int


class Cascade(TypedDict):
    """What a cascade of judges decides, and what it escalates to people."""

    study: str
    part: str
    judges: list[str]
    target_agreement: float
    delta: float
    left_to_people: int
    criteria: dict[str, Json]
    on_record: Json | None
    """The newest cascade that made a study."""


class Case(TypedDict):
    """A case with gold, votes (null where nobody knows them) and what happened to it; `pair` holds the texts."""

    id: int
    case: str
    """Its name in the benchmark."""
    persona: str | None
    pair: PairTexts
    kind: str
    """general, specific, …"""
    tier: Literal["easy", "medium", "hard", "contested", ""]
    gold: Literal["1", "2", ""]
    votes_1: int | None
    votes_2: int | None
    votes_tie: int | None
    kappa: float | None
    """Of its votes, as its tier is made."""
    split: str
    excluded_reason: str
    """Empty: models are scored on it."""
    history: list[Any]


class Change(TypedDict):
    """The rules as somebody set them."""

    id: int
    rules: Any
    decided_by: str | None
    created_at: str


class Changed(TypedDict):
    """How much changed."""

    n: int


class Check(TypedDict):
    """One thing that the site needs; `problem` is empty where it is there."""

    name: str
    problem: str


class Checked(TypedDict):
    """Whether a certificate holds, and why not."""

    sha256: str
    """Empty where the document has none."""
    state: str
    holds: bool
    problems: list[str]
    notes: list[str]
    decisions: dict[str, str]
    """The verdict by the criterion's name, where it holds; none by the hash alone."""


class ComparedSetting(TypedDict):
    """A setting as published and here; `same` is null where one of the two is not known."""

    setting: str
    paper: str
    here: str
    same: bool | None


class ComparedSettings(TypedDict):
    settings: list[ComparedSetting]
    warnings: list[str]
    """Where one model has several parts."""


class Conflict(TypedDict):
    """What a model found to be in conflict, and what a person decided last."""

    id: int
    profile: int
    label: str
    explanation: str
    fields: Any
    """["Domain: Name", …]"""
    is_between_domains: bool
    reviews: list[Review]


class Context(TypedDict):
    """One part of what is shown beside an item."""

    key: str
    title: str
    text: str
    facts: list[list[str]]
    entries: list[str]


class Contradiction(TypedDict):
    """An item on which a judge contradicts people's label; what it said is not told."""

    position: int
    turn: int
    answers: list[list[Any]]
    judges: list[str]
    steps: int | None
    tier: str
    decision: str


class Counts(TypedDict):
    """What an import did, by kind of row."""

    created: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[Any]
    warnings: list[str]
    study: NotRequired[str | None]
    errors_file: NotRequired[str]


class Criterion(TypedDict):
    key: str
    name: str
    question: str
    """What is asked, in one sentence."""
    guideline: str
    guideline_version: int
    """Of what is asked now; earlier texts are rows of GuidelineVersion."""
    unit: Literal["item", "assistant_turn", "user_turn", "response"]
    """What one answer is about."""
    type: Literal["choice", "number", "several", "ranking", "spans", "text", "rewrite"]
    level: Literal["nominal", "ordinal", "interval", "ratio", "set", "ranking", "spans", "text"]
    categories: Any
    """In scale order: [{"value": "1", "label": "…", "guideline": "…"}, …]"""
    help: str
    """A line below the question, always in view."""
    examples: list[Any]
    """[{"good": true, "text": "…"}, …]: answers to copy, and to avoid."""
    limits: Json
    """What its type takes: bounds, step, unit, ties, …."""
    is_required: bool
    """Whether an item is handed in only with an answer to it."""
    condition: Any
    """Asked only if: {"criterion": its key, "values": its values}; null: always."""
    is_asked: bool
    """False once the rubric no longer has it: its labels stay, and nobody is asked it."""


class CriterionChange(TypedDict):
    """How far a new version agrees better with people on one criterion."""

    criterion: str
    name: str
    n_items: int
    examples: dict[str, int]
    figure: str
    """The headline figure of the scale."""
    figures: dict[str, FigureChange]
    mcnemar: McNemar


class DecidedStudy(TypedDict):
    """A study in which the caller decides what people disagree on."""

    id: int
    name: str
    slug: str
    project: str
    kind: str
    state: str
    n_decided: int
    """Decisions so far."""


class Delivery(TypedDict):
    """A message to a webhook, and what became of it."""

    id: int
    event: str
    subject: str
    """What the event is about: told once to each webhook."""
    body: str
    """The JSON that is sent, byte by byte the same at every attempt."""
    created_at: str
    due_at: str | None
    """When it is tried next; empty when it is over."""
    attempts: int
    delivered_at: str | None
    status: int | None
    """Of the last answer."""
    error: str
    """Why the last attempt failed."""


class Dialogue(TypedDict):
    """A dialogue, and the ids of the profile and task that it is about."""

    id: int
    source: str
    """Where the record came from, for example personalens."""
    external_id: str
    """Its id there."""
    content_hash: str
    """SHA-256 of the content, in hexadecimal."""
    extra: Json
    """Keys of the source that Concord does not use."""
    created_at: str
    updated_at: str
    turns: Any
    """[{"role": "user"|"assistant"|"system"|"tool", "content": "…", "parts": […]}, …]; parts where some of the content is more than text."""
    assistant_model: str
    condition: str
    """What the assistant was shown."""
    profile: int | None
    task: int | None
    situation: Any
    inclusion_probability: float
    """Chance that the draw had of taking it out of the file it came from; 1 where all was imported."""


class DialogueTexts(TypedDict):
    turns: Any
    """[{"role": "user"|"assistant"|"system"|"tool", "content": "…", "parts": […]}, …]; parts where some of the content is more than text."""
    assistant_model: str
    condition: str
    """What the assistant was shown."""


class Disagreement(TypedDict):
    """An item, turn or response on which the judge's verdict is not people's label. Held-out items are not among them."""

    item: int
    """Its position."""
    turn: int
    """Number of the turn or response, from 1; 0 for the whole item."""
    criterion: str
    tier: str | None
    people: dict[str, str]
    """By annotator."""
    label: Any
    adjudicated: bool
    judge: str
    size: float
    confidence: float | None


class Dispute(TypedDict):
    """An item on which people gave more than one answer."""

    position: int
    turn: int
    """That was rated; 0 for the whole item."""
    answers: list[list[Any]]
    spread: int | None
    kappa: float | None
    tier: str
    decision: str


class DisputedItem(TypedDict):
    """An item as whoever decides sees it: not which model wrote it, and not who said what."""

    position: int
    turn: int
    criterion: Criterion
    turns: list[Turn] | None
    """Of a dialogue."""
    question: str | None
    """Of a pair."""
    responses: dict[str, str] | None
    """Of a pair, by value: 1 and 2."""
    context: list[Context]
    voices: list[Voice]
    decisions: list[Adjudication]


class EarlierReply(TypedDict):
    """A reply that held no verdict, after which the judge was asked again."""

    number: int
    """From 1, in the order in which they came."""
    unscored_reason: str
    explanation: str
    raw_reply: str
    cost_usd: str | None
    """Empty: unknown. 0: nothing was paid for it."""
    created_at: str
    """When the reply came."""


class Ended(TypedDict):
    key: str
    name: str
    regular: bool
    n: int


class Erased(TypedDict):
    erased: int
    """Answers that went with it."""


class Erasure(TypedDict):
    """What erasing an account means. Labels and decisions stay, under the number."""

    username: str
    number: str
    """What the account is called once it is erased."""
    labels: int
    """Labels that stay."""
    studies: list[str]
    """Where the person has or had a part."""
    refused: str
    """Why it cannot be erased; empty if it can."""


class Escalation(TypedDict):
    study: str
    """The study made for people."""
    target_agreement: float
    thresholds: Any


class EscalationReturn(TypedDict):
    """The same, with the address of the study in which they said it."""

    study: str
    target_agreement: float
    items: int
    criteria: dict[str, ReturnedCriterion]
    slug: str


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


class Evaluation(TypedDict):
    """Some cases of a benchmark, answered by judges in several settings, each in a run of its own."""

    id: int
    benchmark: str
    number: int
    """From 1, within the benchmark."""
    study: str
    """Holds the cases as items."""
    drawn: Json
    """How the cases were chosen: size, seed, filters."""
    n_cases: int
    n_runs: int
    n_running: int
    input_hash: str
    """Of the pairs, in order."""
    code_version: str
    created_at: str


class Exclusion(TypedDict):
    id: int
    annotator: str
    reason: str
    decided_by: str
    created_at: str
    ended_by: str | None
    ended_at: str | None
    end_reason: str


class Experiment(TypedDict):
    """A grid of scenarios, assistants and conditions, played by one user agent."""

    id: int
    name: str
    project: str
    state: str
    """running, stopped or finished."""
    user_agent: str
    assistants: list[str]
    strategy: str
    user_information: str
    """What the user agent is told: a key of simulation.agents.prompts.USER_INFORMATION."""
    prompts: Json
    """Role -> text in place of Concord's own, as in simulation.agents.prompts.roles."""
    conditions: Any
    """Keys of simulation.agents.prompts.CONDITIONS, in the order of tables."""
    grid: Json
    """Users and tasks as they were asked for, and who was drawn."""
    seed: int
    single_turns: int
    """The limit of a dialogue about one domain."""
    multi_turns: int
    """The limit of one about several."""
    limit_unit: Literal["exchanges", "messages"]
    """What limits count, and so whether the assistant closes the dialogue."""
    passages: int
    """How many are retrieved for a turn."""
    budget_usd: str | None
    input_hash: str
    """Of scenarios, agents, conditions, prompts and limits."""
    code_version: str
    stop_reason: str
    """Why it stopped, if no person stopped it."""
    created_at: str
    finished_at: str | None
    stopped_at: str | None


class ExperimentEstimate(TypedDict):
    """What an experiment will take; null where it cannot be known."""

    dialogues: int
    turns: int
    input_tokens: int
    output_tokens: int
    usd: str | None
    seconds: float | None
    masked: int
    """Pairs of user and task left out by the user's interests."""
    absent: int
    """Pairs of user and task that no scenario is about."""
    without_goal: int
    """Tasks that do not say when they are done."""


class ExperimentProgress(TypedDict):
    """An experiment, counted."""

    state: str
    total: int
    begun: int
    ended: int
    endings: list[Ended]
    turns: int
    cut: int
    """Turns that went on for the other side, which was cut."""
    cut_off: int
    """Turns asked for again because a reply met the limit of tokens."""
    rate: float | None
    """Turns a second."""
    workers: int
    needs_worker: bool
    can_resume: bool
    error: str
    spent_usd: str


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
    """Which response stood at each place: of CAB the third was first."""
    value: str
    gold: str
    confidence: float | None
    """How probable its verdict was among the values of the scale, where it tells."""
    explanation: str
    tags: list[dict[str, str]]


class FailureCount(TypedDict):
    """Of one model: wrong answers that are tagged, who tagged them, and the share of each tag."""

    judge: str
    n_tagged: int
    tagged_by: list[str]
    tags: dict[str, TagShare]


class FailureCounts(TypedDict):
    """Tags of wrong answers, by model."""

    models: list[FailureCount]


class Figure(TypedDict):
    """A figure with its interval and what it rests on. What is undefined is null, and `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    n_items: int
    n_raters: int
    n_ratings: int
    confidence: float
    """Nominal coverage of the interval."""
    method: str
    """How the interval was made; none where there is none."""
    seed: int | None
    se: float | None
    """Standard error."""
    df: float | None
    """Effective degrees of freedom of the standard error."""


class FigureChange(TypedDict):
    """A figure of two versions of a judge, and new minus old."""

    new: Figure
    old: Figure
    difference: Figure


class Format(TypedDict):
    """A file that can be brought in, and what must be told besides."""

    key: str
    title: str
    about: str
    example: str
    fields_needed: list[str]
    fields_optional: list[str]


class Found(TypedDict):
    """What was found of one kind, at most 20; `more` says that there is more."""

    title: str
    names: list[str]
    addresses: list[str | None]
    """Of each in the API, behind /api/v1/; null for people."""
    more: bool


class Freed(TypedDict):
    freed: bool
    """Not if there is work on it."""


class GoldItem(TypedDict):
    """The gold of one item, or the reason why it has none."""

    item: str
    position: int
    turn: NotRequired[int]
    """Of one turn of a dialogue."""
    gold: str | None
    source: str | None
    """How it was found, or adjudication."""
    confidence: float | None
    reason: str | None
    candidates: list[str]
    """Values among which it is undecided."""


class GuessedMapping(TypedDict):
    """What a file holds, the mapping that fits it, and what an import by it would refuse."""

    layout: str
    """Form, separator and encoding, in words."""
    columns: list[str]
    """Names and dotted paths."""
    mapping: Any
    """The one that was given, else the guess; it may lack columns."""
    is_complete: bool
    """Whether the file can be imported by it."""
    missing: str
    """What it lacks; empty where it is complete."""
    rows: int
    """That were checked."""
    records: int
    """That an import would keep of them."""
    blanks: dict[str, int]
    """Blank cells by mapped column."""
    problems: list[Any]
    """The first: line, field and message."""
    n_problems: int
    notes: list[str]


class HeldLimits(TypedDict):
    """What a judge may cost in a day and has cost today, and how fast its model may be asked; null is no limit."""

    daily_budget_usd: str | None
    spent_today_usd: str
    requests_per_minute: int | None
    tokens_per_minute: int | None


class HeldOut(TypedDict):
    """How a study is split, how many held-out items leak, and who looked."""

    share: float
    seed: int
    leaks: int
    """Held-out items whose content is also in the development part."""
    looks: list[HeldOutAccess]


class HeldOutAccess(TypedDict):
    """One look at what a judge does on the held-out part."""

    judge: str
    at: str
    by: str | None
    calibration: int | None


class HoldOut(TypedDict):
    id: int
    share: float
    """Of the clusters (profiles, questions, dialogues) that are held out."""
    seed: int
    created_at: str


class Intake(TypedDict):
    """How people come into a study, and what they get at its end."""

    is_public: bool
    """Whether anybody may join by the public address."""
    public_path: str | None
    """That address; null where there is none."""
    completion_code: str
    completion_url: str
    consent_text: str | None
    """What people agree to; null for nothing."""
    consent_hash: str | None
    """SHA-256 by which the version is known."""


class Invitation(TypedDict):
    """A link into a study, without the link: only its hash is kept."""

    id: int
    platform: Literal["prolific", "mturk", ""]
    note: str
    max_uses: int | None
    """People who may join by it."""
    joined: int
    """People who used it."""
    expires_at: str | None
    closed: str
    """Why nobody can join by it any more; empty if they can."""
    created_by: str | None
    created_at: str
    revoked_at: str | None


class Issued(TypedDict):
    """A certificate on a list; its own address says whether it holds."""

    sha256: str
    """Over the content as canonical JSON."""
    created_by: str | None
    created_at: str
    revoked_at: str | None


class Item(TypedDict):
    """An item with the dialogue or the pair that is rated."""

    position: int
    """Place in the study's seeded order, from 1."""
    item_id: str
    """Its id in its source."""
    item_source: str
    stratum: str
    inclusion_probability: float
    """Chance that the draw had of taking this item."""
    dialogue: DialogueTexts | None
    pair: PairTexts | None


class Judge(TypedDict):
    """One version of a judge."""

    id: int
    title: str
    """As tables call it."""
    name: str
    version: int
    project: str
    provider: str
    """A key of judging.judges.providers.REGISTRY, or imported."""
    model: str
    parameters: Json
    kind: str
    daily_budget_usd: str | None
    """What all versions together may cost in a day (UTC). The latest version's holds; it is no part of what a judge is."""
    created_at: str


class Judgment(TypedDict):
    """One verdict of a judge, or the reason why its reply held none."""

    id: int
    run: int
    position: int
    criterion: str
    repeat: int
    order: str
    """Which response stood at each place: of CAB the third was first."""
    turn: int
    """The turn or response that was judged, from 1; 0 for the whole item."""
    alteration: str
    """In a probe run, what was altered in the copy; original for nothing."""
    value: str
    content: Any
    """Of spans, texts and rewrites: what was given."""
    unscored_reason: str
    score: float | None
    """Mean over the scale, weighted by the model's probabilities, where it tells."""
    explanation: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: str | None
    """Empty: unknown. 0: nothing was paid for it."""
    created_at: str
    """When the reply came."""


class Kept(TypedDict):
    content: dict[str, str]


class KnownItem(TypedDict):
    """An item with known answers; `answers` by criterion, with a full stop and a number where they are of a turn or response."""

    id: int
    item_id: str
    item_source: str
    purpose: Literal["check", "training", "qualification"]
    round: int
    """Of the qualification: the round from which on it is asked, until another has its own items."""
    position: int
    """Place among the study's known items, from 1."""
    origin: str
    """Where the answers are from."""
    answers: dict[str, Json]
    answered: int
    """How often it was answered."""
    created_at: str
    retired_at: str | None


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
    """Of the turn or response that was rated."""
    content: Any
    """Of spans, texts and rewrites: what was given."""


class LabelPlan(TypedDict):
    """A study of items drawn to be labelled next."""

    study: str
    """The study made for people."""
    criterion: str
    parameters: Any
    """What was asked for: width, by, confidence."""
    seed: int
    could_be_drawn: int
    created_at: str


class Late(TypedDict):
    """Complete answers that arrived when their slot could not take them."""

    id: int
    annotator: str
    position: int | None
    """Null of a known item that is kept beside the study."""
    state: Literal["draft", "late", "used", "dismissed"]
    content: Json
    """Name of the input -> what is in it."""
    late_reason: str
    saved_at: str


class MadePairs(TypedDict):
    """Pairs that the candidates give: how many, how many are new, and what was left out."""

    pairs: int
    created: int
    unchanged: int
    levels: dict[str, int]
    left_out: dict[str, int]
    """Candidates or pairs, by reason."""
    rule: PairRule
    seed: int
    source: str


class MadeStudy(TypedDict):
    study: str
    """Its slug."""


class Making(TypedDict):
    """An order of material, with every reply and the field that did not fit."""

    id: int
    project: str
    kind: Literal[
        "profile",
        "mask",
        "preferences",
        "interactions",
        "tasks",
        "situation",
        "check",
        "candidates",
        "persona",
        "questions",
        "memories",
        "responses",
    ]
    agent: str
    asked: Json
    """Source, domains, demographics, number, profile, task."""
    state: str
    """running, failed or done."""
    replies: list[Any]
    """[{step, text, field, problem, …}, …], in order."""
    problem: str
    """Why nothing was made."""
    made: list[Any]
    """What it left: kinds and ids of records."""
    created_at: str
    finished_at: str | None


class Mark(TypedDict):
    part: str
    """turn-3, question, context, A or B."""
    start: int
    end: int


class Marks(TypedDict):
    flagged: bool
    later: bool


class McNemar(TypedDict):
    """McNemar's test of two versions: items that the new one gained and lost."""

    n_items: int
    gained: int
    lost: int
    p_value: float | None
    reason: str | None


class Me(TypedDict):
    username: str
    is_researcher: bool
    scopes: list[str]
    """Of the token; all in a session."""


class Member(TypedDict):
    """What one account may do in a project."""

    user: str
    """Username."""
    role: Literal["owner", "researcher", "adjudicator"]
    created_at: str


class Message(TypedDict):
    """One entry of a thread; a flag has no text."""

    annotator: str
    author: str | None
    kind: str
    """message or flag."""
    text: str
    created_at: str


class ModelKey(TypedDict):
    """That a project has a key for an address."""

    id: int
    address: str
    """Scheme, host and port."""
    note: str
    """Who pays, for example."""
    is_readable: bool
    """Whether it was sealed with a secret that the site has."""
    created_by: str | None
    created_at: str


class MyItem(TypedDict):
    """An item that I submitted, skipped, began, marked or asked about."""

    id: str
    number: int
    """Its place among the items that I was given."""
    text: str
    states: list[str]
    """Among submitted, skipped, open, later, asked, answered."""


class MyMessage(TypedDict):
    """One entry of my thread. Who of the researchers answered is not told."""

    is_mine: bool
    kind: str
    """message or flag."""
    text: str
    created_at: str


class MyStudy(TypedDict):
    """An open study that the account rates in."""

    study: str
    name: str
    instructions: str
    rated: int
    left: int
    """Items that are left for this annotator."""


class Named(TypedDict):
    """How many items are named now as was asked, those that were named before included."""

    n: int


class NeededLabels(TypedDict):
    """Labels that an interval of the given width takes."""

    width: float
    with_judge: float | None
    without_judge: float | None
    labelled: int
    more: float | None
    design_effect: float | None
    """How many times as many the clusters make it."""
    dependence: str | None
    reason: str | None


class NewKnownItem(TypedDict):
    item: str
    """Id of the dialogue or pair; source:id if not unique."""
    answers: Mapping[str, RightAnswer]
    """By criterion; criterion.3 for the third turn or response."""


class NewLabel(TypedDict):
    """A label as in a CSV file of ratings."""

    item: str
    """Its id in its source, or source:id."""
    rater: str
    criterion: NotRequired[str]
    value: NotRequired[str]
    reason: NotRequired[str]
    """Why there is no value."""
    order: NotRequired[str]
    """Which response stood at each place: AB, BA, or of more CAB, where the third was first."""
    turn: NotRequired[int]
    """Number of the turn that was rated, from 1; 0 for all."""


class OrderFailure(TypedDict):
    """Orders that failed at one level for one reason; `making` is one of them."""

    level: str
    reason: str
    n: int
    making: int


class Override(TypedDict):
    id: int
    criterion: str
    turn: int
    """The turn or response; 0 for the whole item."""
    tier: Literal["easy", "medium", "hard", "contested", ""]
    """Empty: as computed again."""
    before: Literal["easy", "medium", "hard", "contested", ""]
    """Empty: it had none."""
    reason: str
    decided_by: str
    created_at: str


class Pair(TypedDict):
    id: int
    source: str
    """Where the record came from, for example personalens."""
    external_id: str
    """Its id there."""
    content_hash: str
    """SHA-256 of the content, in hexadecimal."""
    extra: Json
    """Keys of the source that Concord does not use."""
    created_at: str
    updated_at: str
    profile: int | None
    question: str
    context: str
    """Input that belongs to the question."""
    response_1: str
    response_2: str
    model_1: str
    model_2: str
    n_responses: int
    """How many responses there are."""
    further: list[Any]
    """Responses from the third on: [{"text": "…", "model": "…"}, …]."""
    kind: str
    """Group in the source: general, specific, …"""
    source_tier: str
    source_label: Literal["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "tie", ""]
    inclusion_probability: float
    """Chance that the draw had of taking it out of the file it came from; 1 where all was imported."""


class PairRule(TypedDict):
    """Which levels stood against which, and how alike two responses had to be."""

    against: list[list[str]]
    length: float
    same_form: bool
    near: float
    each: int


class PairTexts(TypedDict):
    question: str
    context: str
    """Input that belongs to the question."""
    response_1: str
    response_2: str
    parts: Json
    """Of each text that is more than text: which of its characters are what."""
    model_1: str
    model_2: str
    kind: str
    """Group in the source: general, specific, …"""
    n_responses: int
    """How many responses there are."""
    further: list[Any]
    """Responses from the third on: [{"text": "…", "model": "…"}, …]."""


class Participant(TypedDict):
    """Somebody who is or was in a study."""

    annotator: str
    came_by: str
    platform: str
    platform_id: str
    joined_at: str | None
    decision: str
    """agreed, declined or withdrew; empty: none."""
    text_hash: str
    decided_at: str | None
    erased: int | None
    """Labels that a withdrawal erased."""
    submitted: int
    completed_at: str | None
    completion_code: str


class Person(TypedDict):
    username: str
    """Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only."""
    name: str
    kind: Literal["person", "imported", "simulated"]
    is_researcher: bool
    """May see all material, studies, judges and results."""
    is_active: bool
    """Designates whether this user should be treated as active. Unselect this instead of deleting accounts."""


class PlannedItem(TypedDict):
    """An item that the plan draws, with the probability that it had."""

    position: int
    probability: float
    confidence: float | None
    """Of the judge, the mean over its turns or responses."""
    labels: int
    """Without a label: 1, or how many of its turns or responses are."""


class PlannedLabels(TypedDict):
    """How many labels an interval takes, and which items come next."""

    criterion: str
    judge: str
    part: str
    estimand: str
    width: float
    by: str | None
    confidence: float
    seed: int
    needed: NeededLabels | None
    reason: str | None
    allocation: dict[str, int]
    no_draw: str | None
    """Why nothing is drawn."""
    cluster_draw: str | None
    """Of turns or responses, how these are drawn."""
    could_be_drawn: int
    items: list[PlannedItem]
    came_back: Json | None
    power: list[Json]
    """Of studies like this one, by size."""


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
    """Where the price is published."""


class Process(TypedDict):
    """A living process, and the parts that it holds."""

    name: str
    """Host, process id and a random part."""
    slots: int
    """How many parts it takes from the queue at a time; 0 for a process that takes none."""
    parts: int
    started_at: str
    seen_at: str


class Profile(TypedDict):
    id: int
    source: str
    """Where the record came from, for example personalens."""
    external_id: str
    """Its id there."""
    content_hash: str
    """SHA-256 of the content, in hexadecimal."""
    extra: Json
    """Keys of the source that Concord does not use."""
    created_at: str
    updated_at: str
    name: str
    persona: str
    """Free text, where the source has one."""
    demographics: Json
    preferences: Json
    """Domain -> preference type -> value or values."""
    interests: Json
    """Domain -> whether the user cares for it."""
    interactions: Json
    """Domain -> summary of past interactions."""
    memories: list[Any]
    """Short statements, oldest first."""


class Progress(TypedDict):
    """How far a study has come."""

    items: int
    people: int
    planned: int
    """Ratings that make the study complete."""
    submitted: int
    share: float


class Project(TypedDict):
    """People who work together, and see nothing of what others do."""

    id: int
    name: str
    slug: str
    n_members: int
    n_owners: int
    is_chosen: bool
    """Whether what I make goes there if I name no project."""
    created_at: str


class Prompt(TypedDict):
    """What the judge was asked, made again from the item as it is now."""

    system: str
    user: str
    version: str
    """Hash of the templates."""
    is_same: bool
    """Whether neither item nor templates have changed since."""


class PublicKey(TypedDict):
    """A public key of the site, in hexadecimal."""

    key_id: str
    public_key: str
    signs: bool
    """Whether new certificates are signed with it."""


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


class Quality(TypedDict):
    """Each annotator as an instrument, by criterion."""

    study: str
    left_out: list[dict[str, str]]
    """Criteria whose answers cannot be compared one by one, each with the reason."""
    checks_and_repeats: list[CheckRecord]
    criteria: dict[str, Json]


class Question(TypedDict):
    """What people are asked about themselves; "prefer not to say" is always one more answer."""

    key: str
    text: str
    options: list[str]
    position: int


class Queue(TypedDict):
    """Parts of running judge runs."""

    waiting: int
    held: int
    later: int
    oldest: str | None


class Queued(TypedDict):
    queued: bool


class RatedItem(TypedDict):
    """An item, or a turn of it, with what was said of it on one criterion; of a held-out item by people only."""

    position: int
    turn: int
    counts: list[Any]
    """People's answers."""
    majority: str
    tied: bool
    tier: str
    judges: list[Any]


class Resumed(TypedDict):
    n: int
    """Orders that go on."""


class Retention(TypedDict):
    """A kind of data, how long it is kept, and how much of it is over that."""

    kind: str
    what: str
    days: int | None
    variable: str
    over: int


class ReturnedCriterion(TypedDict):
    """What people said of the escalated items on one criterion."""

    labelled: int
    confirmed: Figure
    """Share of verdicts that people's label confirms."""
    combined: float | None
    """Mean over all items: people's label where there is one, else the verdict."""


class Review(TypedDict):
    decision: Literal["conflict", "none", "unsure"]
    note: str
    decided_by: str | None
    decided_at: str


class RightAnswer(TypedDict):
    """A right value of a criterion, further ones that are right as well, and why."""

    value: str
    also: NotRequired[Sequence[str]]
    explanation: NotRequired[str]


class Round(TypedDict):
    """One decision on the items of a study by a stated rule: how many items had each outcome."""

    id: int
    number: int
    """From 1, within the study."""
    rule: Any
    """What becomes of each tier and of ties, cuts and chance."""
    seed: int
    follow_up: str | None
    """Study in which was asked again."""
    outcomes: dict[str, int]
    input_hash: str
    """Of the votes it was made from."""
    code_version: str
    created_at: str


class Rubric(TypedDict):
    """A rubric as its file has it in JSON: what goes without saying is left out."""

    name: NotRequired[str]
    description: NotRequired[str]
    citation: NotRequired[str]
    kind: NotRequired[str]
    criterion: list[Any]


class RubricChanges(TypedDict):
    """What a new rubric did, by the keys of criteria."""

    added: list[str]
    edited: list[str]
    retired: list[str]
    """No longer asked; their labels stay."""
    removed: list[str]
    renamed: list[list[str]]
    """Key of the rubric, and the key it is asked under as labels rest on another scale."""


class RubricTemplate(TypedDict):
    """A rubric that comes with Concord."""

    template: str
    rubric: Rubric


class Rules(TypedDict):
    """How checks and repeats are mixed in, how much one person rates, and what newcomers must pass."""

    check_every: int
    repeat_every: int
    repeat_after: int
    item_limit: int | None
    pass_mark: float | None


class RulesChange(TypedDict):
    """A change of the rules after the first look."""

    at: str
    by: str
    sha256: str
    reason: str
    changed: list[dict[str, str]]
    """Rule, from, to."""
    sentence: str


class RulesLook(TypedDict):
    """Who first looked at a result, and the hash of the rules that hold since."""

    at: str
    by: str
    sha256: str


class RulesRecord(TypedDict):
    """How the rules came about."""

    success: Success
    sha256: str | None
    first_look: RulesLook | None
    changes: list[RulesChange]


class Run(TypedDict):
    """One judge over the items of one study."""

    id: int
    study: str
    judge: Judge
    criteria: list[str]
    state: str
    """running, stopped or finished."""
    kind: Literal["ordinary", "probe", "evaluation"]
    repeats: int
    order_policy: Literal["random", "AB", "BA", "both"]
    seed: int
    budget_usd: str | None
    use_cache: bool
    """Whether an answer to the same request may be used again."""
    unit: Literal["item", "turn", "response"]
    """What one judgment is about."""
    every_turn: bool
    """Whether the unit is the turn."""
    in_bulk: bool
    """Handed in as batches, which cost less and take hours."""
    input_hash: str
    """Of items, criteria and judge."""
    code_version: str
    stop_reason: str
    """Why it stopped, if no person stopped it."""
    result: Json
    """What a panel found its members to be like."""
    created_at: str
    finished_at: str | None
    stopped_at: str | None


class RunProgress(TypedDict):
    """A run, counted."""

    state: str
    expected: int
    judged: int
    scored: int
    unscored: dict[str, int]
    """By reason."""
    missing: int
    troubles: list[str]
    """Why parts ended early or wait."""
    rate: float | None
    """Judgments per second."""
    seconds_left: float | None
    workers: int
    needs_worker: bool
    can_resume: bool
    can_ask_again: int
    """Replies without a verdict that can be asked for again."""
    again_usd: str | None
    """Estimated cost; null if not known."""
    spent_usd: str


class Sample(TypedDict):
    id: int
    method: Literal["all", "simple", "stratified", "active"]
    strata: list[Any]
    """The fields it was stratified by."""
    filters: Json
    """What of the corpus was eligible."""
    frame_size: int
    """How many items were eligible."""
    size: int
    seed: int
    input_hash: str
    """Of the eligible ids, in order."""
    created_at: str


class SavedMapping(TypedDict):
    """A mapping that is kept under a name."""

    id: int
    name: str
    mapping: Any
    """As its file has it."""
    project: str
    updated_at: str


class Seed(TypedDict):
    """Traits from which personas are made."""

    id: str
    traits: Mapping[str, object]
    """Trait to value, or to a list of values."""


class SigningKeys(TypedDict):
    """The keys that check this site's certificates, the one that signs first."""

    algorithm: str
    keys: list[PublicKey]


class Simulated(TypedDict):
    """One cell of an experiment; `dialogue` is the material that it became."""

    index: int
    """Place in the experiment, from 1."""
    assistant: str
    condition: str
    profile: int | None
    task: int | None
    ending: str
    """A key of simulation.agents.parsing.endings.ENDINGS."""
    error: str
    """What the other side said where a turn could not be asked for."""
    dialogue: int | None


class SimulatedTurn(TypedDict):
    """One turn, and what it took."""

    number: int
    """From 1; the user has the odd ones."""
    side: Literal["user", "assistant"]
    text: str
    thought: str
    raw_reply: str
    cut_off: list[Any]
    """Replies before that met the limit of tokens."""
    ended: bool
    """Whether the user gave the mark that the task is done."""
    cut: bool
    """Whether it went on for the other side, which was cut."""
    problem: str
    """A key of simulation.agents.parsing.speech.PROBLEMS."""
    retrieved: list[Any]
    """Passages found: [{domain, passage, score}, …]"""
    seed: int
    prompt: str
    """Version of the templates."""
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: str | None
    """Empty: unknown. 0: nothing was paid."""
    created_at: str


class Stock(TypedDict):
    """How many records of one kind there are."""

    kind: str
    total: int
    by_source: dict[str, int]


class Stopped(TypedDict):
    n: int
    """Orders that were not begun."""


class Stretch(TypedDict):
    """The mean mark of a stretch of one annotator's checks or repeats, in the order in which they were given."""

    annotator: str
    kind: str
    """accuracy, of checks, or consistency, of repeats."""
    first_item: int
    last_item: int
    until: str
    items: int
    value: float | None
    low: float | None
    high: float | None


class Study(TypedDict):
    """A study with its criteria. Counts are counted by the query."""

    id: int
    name: str
    slug: str
    project: str
    kind: Literal["dialogue", "pair"]
    state: Literal["draft", "open", "closed"]
    description: str
    instructions: str
    """Shown to annotators above the guidelines."""
    overlap: int
    """How many annotators rate each item."""
    most_overlap: int | None
    """How many annotators rate an item at most; empty: as many as the overlap."""
    is_adaptive: bool
    """Whether items whose tier is unclear are asked about again, up to most_overlap."""
    shown: list[Any]
    """Which parts of the context annotators see."""
    asks_strength: bool
    """Of a pair: ask whether a response is much or slightly better."""
    content_form: Literal["rendered", "plain"]
    """How annotators see texts: as their users saw them, or as they are written."""
    seed: int
    """Of the order of items and of the order A/B."""
    clustering: str
    """What dependent items share: by default their profile, else their question; none, a grouping, or a key that their source brought along."""
    created_at: str
    n_items: int
    criteria: list[Criterion]


class StudyGold(TypedDict):
    """The gold of a study's items on one criterion."""

    study: str
    criterion: str
    method: str
    cuts: list[float]
    chance: str
    min_ratings: int
    min_posterior: float
    counts: dict[str, int]
    """Items by source or reason."""
    tied: int
    items: list[GoldItem]


class StudyRules(TypedDict):
    """The rules of a study's verdicts."""

    study: str
    rules: Json
    rules_on_record: RulesRecord


class Submitted(TypedDict):
    id: str
    state: str


class Success(TypedDict):
    """The criterion of success: at least this decision on these criteria, or on all if none is named."""

    decision: str
    criteria: list[str]


class System(TypedDict):
    """What waits, who works, and which runs and experiments need somebody."""

    checks: list[Check]
    queue: Queue
    processes: list[Process]
    runs: list[Run]
    experiments: list[Experiment]
    kept: list[Retention]


class Task(TypedDict):
    id: int
    source: str
    """Where the record came from, for example personalens."""
    external_id: str
    """Its id there."""
    content_hash: str
    """SHA-256 of the content, in hexadecimal."""
    extra: Json
    """Keys of the source that Concord does not use."""
    created_at: str
    updated_at: str
    description: str
    intent: str
    goal: str
    domains: list[Any]
    preference_types: list[Any]
    is_multi_domain: bool


class Template(TypedDict):
    """A criterion that studies can be made with."""

    key: str
    kind: str
    name: str
    question: str
    level: str


class Tested(TypedDict):
    answer: str
    """What is known of it, in a sentence."""


class Token(TypedDict):
    """A token, without what would let somebody use it."""

    id: int
    name: str
    """What it is for."""
    hint: str
    """Its first characters, by which to recognise it."""
    scopes: list[str]
    state: str
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    """To the minute."""
    revoked_at: str | None


class Tool(TypedDict):
    """Another tool's files that the study can be written as, and what that tool does not show."""

    key: str
    title: str
    files: list[str]
    unseen: list[str]


class Turn(TypedDict):
    role: str
    content: str
    parts: list[Json]
    """Which characters of the content are what: reasoning, a tool call, a picture; empty for mere text."""


class Version(TypedDict):
    """One text of a criterion, and how many labels that count rest on it."""

    version: int
    question: str
    guideline: str
    categories: Any
    reason: str
    created_by: str | None
    created_at: str
    labels: int
    is_current: bool


class VersionChange(TypedDict):
    """How far a new version of a judge agrees better with people than an old one."""

    study: str
    part: str
    old: str
    new: str
    bootstrap: int
    seed: int
    criteria: dict[str, CriterionChange]


class Voice(TypedDict):
    """One person's answer, under a letter that says nothing of who it is."""

    name: str
    label: str
    unscored_reason: str
    strength: str
    note: str
    evidence: list[str]


class Webhook(TypedDict):
    id: int
    project: str
    url: str
    events: list[str]
    created_by: str
    created_at: str
    ended_at: str | None
    """From then on it is told nothing."""


class Withdrawal(TypedDict):
    """What stays of a withdrawal."""

    annotator: str
    decision: Literal["agreed", "declined", "withdrawn"]
    erased: int | None
    """Labels that a withdrawal erased."""
    created_at: str


class CandidateRunWhole(CandidateRun):
    """A run of candidates with what it cost, what came by level, and what failed."""

    spent_usd: str
    candidates: dict[str, int]
    """By level."""
    failures: list[OrderFailure]
    from_seeds: NotRequired[Json]
    """Of a run that began with seeds: its plan and stages."""


class Certificate(Checked):
    """A certificate as `verify_certificate` takes it, and whether it holds now."""

    document: Json


class CheckRecord(Figure):
    """The mean mark of one annotator's checks or repeats: over all, by criterion, and over time."""

    annotator: str
    kind: str
    """accuracy, of checks, or consistency, of repeats."""
    unscored: int
    by_criterion: dict[str, Figure]
    stretches: list[StretchFigure]


class EvaluationRun(Run):
    """A run with the setting in which its judge is asked."""

    setting: Json
    """What an evaluation shows the model of the person, and how it answers."""


class JudgmentWhole(Judgment):
    """With the reply, those before it, and what the provider measured."""

    raw_reply: str
    details: Json
    """What the provider measured: features, tokens, …"""
    item_hash: str
    """Of the dialogue or pair as the judge saw it."""
    earlier: list[EarlierReply]


class MadeInvitation(Invitation):
    """With the token and the path of the link, which are shown now."""

    token: str
    """Empty where an answer is given again."""
    path: str
    """Of the link, behind the address of the site."""


class MadeWebhook(Webhook):
    """With the secret that signs its messages, which is shown now."""

    secret: str
    """Empty where an answer is given again."""


class Probe(Run):
    """A run on altered copies, with what was altered."""

    probe: Json
    """Of a probe run: alterations with versions, favoured responses, left out."""


class SimulatedWhole(Simulated):
    """With its turns so far."""

    turns: list[SimulatedTurn]


class StretchFigure(Figure):
    """The mean mark of a stretch of checks or repeats."""

    first: int
    last: int
    until: str


class StudyWithWarnings(Study):
    """A study, and what is amiss before anybody rates."""

    warnings: list[str]
    """In sentences."""


class TagShare(Figure):
    """The share of tagged answers that have a tag, and how many they are."""

    n: int


class Thread(Message):
    """The newest entry of a thread; it waits for an answer where its annotator wrote it."""

    position: int
    is_waiting: bool
