"""Shapes of the JSON documents that this room makes, stores and reads; at run time each is a dict."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from annotation.stats.benchmarks.result_types import (
    HiddenDocument,
    RecurringDocument,
    ShortcutDocument,
    VoteAgreementDocument,
)
from annotation.stats.result_types import ComparedTierDocument, EstimateDocument, TierGroupDocument


class ModelTiersDocument(TypedDict):
    """How sure the tiers are that the difficulty model made: `sure` on average, `clear` cases by `clear_from`."""

    method: str
    n_cases: int
    sure: float
    clear: int
    clear_from: float
    likeliest: dict[str, int]
    expected: dict[str, float]
    intervals: dict[str, list[float]]
    by_counted: list[ComparedTierDocument]


class MadeDocument(TypedDict, total=False):
    """What is read of how a benchmark was made; more may stand there, and is shown as it is."""

    how: str
    with_tie: bool
    question: str
    guideline: str
    annotators: dict[str, int]
    known_issues: list[str]
    parent: dict[str, str]
    agreement_cuts: list[float]
    splits: dict[str, float]
    model: ModelTiersDocument


class BenchmarkDocument(TypedDict):
    """A benchmark with its numbers of cases."""

    name: str
    version: str
    slug: str
    state: str
    parent: str | None
    study: str | None
    cases: int
    counting: int
    excluded: int
    tiers: dict[str, int]
    kinds: dict[str, int]
    personas: int
    made: MadeDocument
    notes: str
    input_hash: str
    code_version: str
    created_at: str
    released_at: str | None


class KindAndTierRow(TypedDict):
    """The cases of a kind and tier."""

    kind: str
    tier: str
    n: int


class SplitRow(TypedDict):
    """The cases of a split, and their personas."""

    split: str
    n: int
    personas: int


class ExclusionRow(TypedDict):
    """Why cases are excluded."""

    reason: str
    n: int


class AuthorRow(TypedDict):
    """Responses of one level, by who wrote them and the hash of the prompt."""

    level: str
    model: str
    prompt: str
    n: int


class VotesDocument(TypedDict):
    """How many votes the cases have."""

    cases: int
    without: int
    total: int
    least: int | None
    most: int | None


class CasesAgreementDocument(TypedDict):
    """How far people agree: on all cases and on those that count, and by kind, tier and split."""

    resampled: Literal["personas"]
    overall: list[VoteAgreementDocument]
    groups: dict[str, list[TierGroupDocument]]


class ShortAuditDocument(TypedDict):
    """What of an audit belongs into a datasheet."""

    at: str
    n: int
    recurring: list[RecurringDocument]
    shortcuts: list[ShortcutDocument]
    contradicting_pairs: int
    shared_questions: int
    other_script: EstimateDocument


class VersionRow(TypedDict):
    """A version that this one was made from, and how that was made."""

    name: str
    version: str
    slug: str
    made: str


class DatasheetDocument(BenchmarkDocument):
    """What somebody must know who uses a benchmark."""

    by_kind_and_tier: list[KindAndTierRow]
    splits: list[SplitRow]
    excluded_because: list[ExclusionRow]
    written_by: list[AuthorRow]
    votes: VotesDocument
    agreement: CasesAgreementDocument | None
    audit: ShortAuditDocument | None
    versions: list[VersionRow]
    bootstrap: int
    seed: int


class GradedDocument(HiddenDocument):
    """The same of a study of choices and one of grades, with their answers."""

    study: str
    graded: str
    scale: list[str]
    choices: list[str]
    bootstrap: int
    seed: int


class TextsDocument(TypedDict):
    """The responses of a pair before they were revised."""

    id: str
    response_1: str
    response_2: str


class StepDocument(TypedDict):
    """What happened to a case: in a filter round, by the model, by hand, or in an adjudication."""

    step: str
    outcome: str
    reason: str
    by: NotRequired[str]
    at: NotRequired[str]
    study: NotRequired[str]
    round: NotRequired[int]
    tier: NotRequired[str]
    kappa: NotRequired[float | None]
    votes: NotRequired[dict[str, int]]
    before: NotRequired[TextsDocument]
    tiers: NotRequired[dict[str, float]]
