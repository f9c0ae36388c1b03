"""Shapes of the JSON documents that an audit of a benchmark becomes, and of how far its people agree."""

from typing import Literal, TypedDict

from annotation.stats.result_types import EstimateDocument


class RepeatedPairDocument(TypedDict):
    """Cases with the same persona, question and two responses; `opposite`: their labels contradict each other."""

    cases: list[str]
    tiers: list[str]
    opposite: bool


class RecurringDocument(TypedDict):
    """How many cases of a cell stand in another tier too, and of those how many with the opposite label."""

    kind: str
    tier: str
    n: int
    recurring: int
    opposite: int
    recurring_share: EstimateDocument
    opposite_share: EstimateDocument


class ShortcutDocument(TypedDict):
    """How often a rule says what people said, in a cell of the benchmark."""

    rule: str
    kind: str
    tier: str
    accuracy: EstimateDocument


class CaseShareDocument(TypedDict):
    """Cases that something is true of, and their share."""

    cases: list[str]
    share: EstimateDocument


class SharedQuestionDocument(TypedDict):
    """A question with the number of personas that it is asked of, and of cases."""

    question: str
    personas: int
    cases: int


class SharedQuestionsDocument(TypedDict):
    """Questions that several personas are asked, and the share of the cases that have one."""

    questions: list[SharedQuestionDocument]
    cases_share: EstimateDocument


class ScriptCountDocument(TypedDict):
    """Cases by the scripts of their three texts."""

    question: str
    chosen: str
    rejected: str
    n: int


class ScriptMixDocument(TypedDict):
    """The scripts of questions and responses; `cases` have a response in another script than the question."""

    counts: list[ScriptCountDocument]
    other_than_question: EstimateDocument
    unequal: EstimateDocument
    choosing_the_question: EstimateDocument
    cases: list[str]


class RareKeyDocument(TypedDict):
    """A key that `n` personas have, and the usual key that it resembles."""

    key: str
    n: int
    like: str | None


class PersonaKeysDocument(TypedDict):
    """How many personas and keys of their documents there are, and which keys few have."""

    n: int
    keys: int
    rare: list[RareKeyDocument]


class PersonasDocument(PersonaKeysDocument):
    """The same with what has no persona or no memories."""

    cases_without_persona: list[str]
    without_memories: list[str]


class BenchmarkAuditDocument(TypedDict):
    """Everything that can be said against a benchmark."""

    n: int
    n_personas: int
    bootstrap: int
    seed: int
    resampled: Literal["personas"]
    recurring: list[RecurringDocument]
    repeated_pairs: list[RepeatedPairDocument]
    contradicting_pairs: int
    circles: list[list[str]]
    nearly_same_responses: CaseShareDocument
    nearly_same_cases: list[list[str]]
    near: float
    shortcuts: list[ShortcutDocument]
    unlike_in_form: EstimateDocument
    shared_questions: SharedQuestionsDocument
    scripts: ScriptMixDocument
    personas: PersonasDocument


class VoteAgreementDocument(TypedDict):
    """How far the people of a group of cases agree."""

    group: str
    n: int
    votes: int
    tier: str | None
    percent_agreement: EstimateDocument
    fleiss_kappa: EstimateDocument
    gwet_ac1: EstimateDocument


class ChoicesDocument(TypedDict):
    """How often each answer was chosen where the grades differ by `difference`."""

    difference: float
    choices: dict[str, int]


class HiddenDocument(TypedDict):
    """What choices hide that grades of the same people show."""

    n: int
    cases: int
    annotators: int
    resampled: Literal["personas"]
    no_difference: EstimateDocument
    same_sign: EstimateDocument
    opposite: EstimateDocument
    both_high: EstimateDocument
    both_low: EstimateDocument
    difference: EstimateDocument
    correlation: EstimateDocument
    by_difference: list[ChoicesDocument]
