"""Seeds, questions and candidates from JSONL; replies on the way from seeds to candidates, checked by rule (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from rapidfuzz.fuzz import partial_ratio

from annotation.stats.benchmarks.scripts import MIXED, NONE, detect_scripts
from simulation.agents.parsing.generated import UnfitError, check_reply
from simulation.agents.prompts import text
from simulation.agents.prompts.generation import FEWEST_FACTS, LEVELS

Id = Annotated[str, Field(min_length=1, max_length=200, coerce_numbers_to_str=True)]


class QuestionRecord(BaseModel):
    """A line of a file of questions. Without a profile it is asked of all that are named."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    kind: str = Field(default="general", max_length=40)
    profile_id: Id | None = None


class CandidateRecord(BaseModel):
    """A line of a file of candidates. Unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    profile_id: Id
    question: str = Field(min_length=1)
    kind: str = Field(default="general", max_length=40)
    level: Literal["none", "generic", "full", "over"]
    text: str = Field(min_length=1)
    provider: str = Field(default="imported", max_length=40)
    model: str = Field(default="", max_length=120)

    @property
    def others(self) -> dict[str, object]:
        """Keys that are not known."""
        return dict(self.model_extra or {})


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Passage = Annotated[str, StringConstraints(strip_whitespace=True, min_length=40)]

SHORTEST_SENTENCE = 40
ECHOED = 95.0
"""Percent of a sentence of the prompt that a reply repeats, from which the reply is the prompt."""

LONGEST_REFUSAL = 400
"""Characters; a longer reply that begins with an apology says something besides."""

REFUSALS = re.compile(
    r"(i['’]?m|i am)( very)? sorry,?( but)? i (can|am|will|do)"
    r"|i (can ?not|can['’]t|won['’]t|am (not able|unable) to) (help|assist|answer|provide|fulfil|comply|do|write|give)"
    r"|.{0,60}\bas an (ai|artificial intelligence|language model)\b"
    r"|(很|非常)?(抱歉|对不起).{0,20}(无法|不能)|作为(一个|一名)?(ai|人工智能)",
    re.IGNORECASE,
)


class SeedRecord(BaseModel):
    """A line of a file of seeds: a person's traits by name."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(min_length=1, max_length=100, coerce_numbers_to_str=True)]
    traits: dict[Words, Words | list[Words]] = Field(min_length=1, max_length=50)


class GeneratedPerson(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[Words, Field(max_length=200)]
    description: Passage
    facts: dict[Words, Words] = Field(min_length=FEWEST_FACTS)


class Questions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    questions: list[Words]


class Passages(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passages: list[Passage]


class ResponseOpinion(BaseModel):
    """What the judge says of a response."""

    model_config = ConfigDict(extra="ignore")

    number: int
    answers: bool
    same_language: bool
    level: str


class ResponseOpinions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    responses: list[ResponseOpinion]


SHORT: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": 120}
LONG: dict[str, object] = {"type": "string", "minLength": 40, "maxLength": 800}


def schema_of_person() -> dict[str, object]:
    """JSON schema of a person with as many facts as are needed."""
    facts = _object(**dict.fromkeys(("Home", "Work", "Leisure", "Habit"), SHORT))
    return _object(name={**SHORT, "maxLength": 40}, description=LONG, facts=facts)


def schema_of_conflicts(fields: Sequence[str]) -> dict[str, object]:
    """JSON schema of conflicts between these fields."""
    named = {"type": "array", "items": {"enum": list(fields)}, "minItems": 1, "maxItems": 4}
    one = _object(label=SHORT, explanation={**SHORT, "maxLength": 300}, fields=named)
    return _object(conflicts={"type": "array", "items": one, "maxItems": 10})


def schema_of_list(name: str, n: int, *, one: Mapping[str, object]) -> dict[str, object]:
    """JSON schema of a list of `n` texts, each like `one`."""
    texts = {"type": "array", "items": one, "minItems": n, "maxItems": n}
    return _object(**{name: texts})


def schema_of_responses(n: int) -> dict[str, object]:
    """JSON schema of what is said of `n` responses."""
    said = {"answers": {"type": "boolean"}, "same_language": {"type": "boolean"}, "level": {"enum": list(LEVELS)}}
    each = [_object(number={"const": number}, **said) for number in range(1, n + 1)]
    return _object(responses={"type": "array", "prefixItems": each, "minItems": n, "maxItems": n})


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def person(reply: str, *, like: str) -> dict[str, object]:
    """A person with a description and facts, in the language of the traits."""
    found = check_reply(reply, GeneratedPerson)
    refuse_language(found.description, like=like, field="description")
    return found.model_dump()


def questions(reply: str, n: int, *, like: str) -> list[str]:
    """As many questions as asked for."""
    found = check_reply(reply, Questions).questions
    return _complete(found, n, like=like, field="questions")


def passages(reply: str, n: int, *, like: str) -> list[str]:
    """As many passages as asked for."""
    return _complete(check_reply(reply, Passages).passages, n, like=like, field="passages")


def _complete(found: list[str], n: int, *, like: str, field: str) -> list[str]:
    if len(found) != n:
        raise UnfitError(f"holds {len(found)} and not {n}", field)
    for place, one in enumerate(found):
        refuse_language(one, like=like, field=f"{field}.{place}")
    return found


def parse_opinions(reply: str, n: int) -> list[dict[str, object]]:
    """What is said of each of `n` responses, in their order."""
    found = {one.number: one for one in check_reply(reply, ResponseOpinions).responses}
    if sorted(found) != list(range(1, n + 1)):
        raise UnfitError(f"does not tell of each response from 1 to {n} once", "responses")
    for number, one in found.items():
        if one.level not in LEVELS:
            raise UnfitError(f"{one.level!r} is not one of {', '.join(LEVELS)}", f"responses.{number}.level")
    return [found[number].model_dump(exclude={"number"}) for number in sorted(found)]


def response(reply: str, *, question: str, level: str) -> str:
    """A candidate response: not empty, no refusal, not its prompt, in the language of the question."""
    words = reply.strip()
    if not words:
        raise UnfitError("is empty", "reply")
    if len(words) <= LONGEST_REFUSAL and REFUSALS.match(words):
        raise UnfitError("is a refusal", "reply")
    if any(
        partial_ratio(one, words) >= ECHOED for one in instructions(f"candidates/{level}") if len(words) >= len(one)
    ):
        raise UnfitError("repeats its prompt", "reply")
    refuse_language(words, like=question, field="reply")
    return words


def instructions(name: str) -> Sequence[str]:
    """The sentences of a template that are long enough to be told from what anybody would write."""
    sentences = re.split(r"(?<=[.:])\s+", text(name))
    return [one for one in sentences if len(one) >= SHORTEST_SENTENCE and "$" not in one]


def refuse_language(words: str, *, like: str, field: str) -> None:
    """Raise UnfitError where the words are in another script than `like`, which tells Chinese from English."""
    found, wanted = detect_scripts([words, like])
    if {found, wanted} & {MIXED, NONE} or found == wanted:
        return
    raise UnfitError(f"is in {found} letters, and {wanted} ones were asked for", field)
