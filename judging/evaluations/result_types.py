"""Shapes of the JSON document that an evaluation's results become; at run time each is a dict."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from annotation.stats.result_types import EstimateDocument

Cells = dict[str, EstimateDocument]
"""By cell of the benchmark: `all`, a tier, `kind general`, `general easy`."""


class RunFacts(TypedDict):
    """Who answered in which setting, and how many answers could be read."""

    key: str
    run: int
    judge: str
    kind: str
    model: str
    setting: dict[str, object]
    setting_name: str
    state: str
    expected: int
    answers: int
    scored: int
    unscored: int
    nothing_found: int | None
    reasons: dict[str, int]


class AccuracyRow(TypedDict):
    """How often one model in one setting is right."""

    key: str
    cells: Cells


class LikelyTierRow(TypedDict):
    """The same with each case in every tier by its probability."""

    key: str
    tiers: Cells


class LineRow(TypedDict):
    """What models are held to."""

    name: str
    cells: Cells


class OrderRow(TypedDict):
    """What a model says in both orders."""

    key: str
    consistency: EstimateDocument
    both_right: EstimateDocument
    first: EstimateDocument


class DifferenceRow(TypedDict):
    """The accuracy of `a` less that of `b`, within the same cases."""

    what: str
    a: str
    b: str
    cells: Cells


class GroupRow(TypedDict):
    """Accuracy of each model on the cases whose persona has this value."""

    field: str
    value: str
    n_cases: int
    figures: Cells


class ReliabilityRow(TypedDict):
    """Answers about as sure as each other."""

    low: float
    high: float
    confidence: float
    accuracy: EstimateDocument


class ConfidenceDocument(TypedDict):
    """How far a model's confidence can be believed."""

    ece: EstimateDocument
    plain_ece: float | None
    brier: EstimateDocument
    excess: EstimateDocument
    bins: list[ReliabilityRow]


class CutsRow(TypedDict):
    """Accuracy by tier where the tiers end elsewhere."""

    cuts: list[float]
    n_cases: dict[str, int]
    figures: dict[str, Cells]


class UnsolvedCase(TypedDict):
    """A case that no model got right."""

    case: int
    position: int
    tier: str
    kind: str


class UnsolvedDocument(TypedDict):
    """All of them, of which some are listed."""

    n: int
    n_models: int
    cases: list[UnsolvedCase]


class EvaluationTables(TypedDict):
    """The tables of an evaluation; a command adds failures by tag, and how models rank elsewhere."""

    accuracy: list[AccuracyRow]
    accuracy_by_likely_tier: list[LikelyTierRow]
    lines: list[LineRow]
    orders: list[OrderRow]
    differences: list[DifferenceRow]
    groups: list[GroupRow]
    confidence_in_verdicts: dict[str, ConfidenceDocument]
    cuts: list[CutsRow]
    warnings: list[str]
    nobody: UnsolvedDocument
    failures: NotRequired[list[dict[str, object]]]
    ranks: NotRequired[list[RanksDocument]]


class EvaluationDocument(EvaluationTables):
    """All figures of an evaluation."""

    evaluation: int
    number: int
    benchmark: str
    n_cases: int
    n_personas: int
    n_cases_without_persona: int
    n_personas_with_made_memories: int
    drawn: dict[str, object]
    cells: list[str]
    runs: list[RunFacts]
    bootstrap: int
    confidence: float
    seed: int
    resampled: Literal["personas"]
    conventions: list[str]


class RanksDocument(TypedDict):
    """How models rank here and elsewhere, in one setting."""

    setting: str
    models: list[str]
    only_here: list[str]
    only_there: list[str]
    spearman: EstimateDocument
    kendall: EstimateDocument
