"""Concord's own formats: profiles, tasks, dialogues and pairs, one JSON object on each line. Unknown keys are kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import to_json

from annotation.corpus.parsing import responses
from annotation.corpus.parsing.contents import Part, check_parts, read_content, read_message
from annotation.stats.orders import MOST, TIE

# Ids may be given as numbers. The lengths are those of the columns.
Id = Annotated[str, Field(min_length=1, max_length=200, coerce_numbers_to_str=True)]
Short = Annotated[str, Field(max_length=120)]
Name = Annotated[str, Field(max_length=200)]
Filled = Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """A line. An optional key may be null, which is the same as leaving it out."""

    model_config = ConfigDict(extra="allow")

    id: Id

    @model_validator(mode="before")
    @classmethod
    def drop_nulls(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {key: value for key, value in given.items() if value is not None or key not in optional}

    def fields(self) -> dict[str, object]:
        """The values by column, without the id and references to other records."""
        values = self.model_dump(exclude={"id", "profile_id", "task_id", "situation", *(self.model_extra or ())})
        return {**values, "extra": self.model_extra or {}}


class ProfileRecord(Record):
    name: Name = ""
    persona: str = ""
    demographics: dict[str, object] = {}
    preferences: dict[str, object] = {}
    interests: dict[str, object] = {}
    interactions: dict[str, object] = {}
    memories: list[object] = []


class TaskRecord(Record):
    description: Filled
    intent: str = ""
    goal: str = ""
    domains: list[str] = []
    preference_types: list[str] = []

    def fields(self) -> dict[str, object]:
        return {**super().fields(), "is_multi_domain": len(self.domains) > 1}


class ScenarioRecord(BaseModel):
    """Who has which task, and where."""

    model_config = ConfigDict(extra="forbid")

    profile_id: Id
    task_id: Id
    situation: dict[str, object] = {}

    @property
    def id(self) -> str:
        """The three together: the same scenario twice is one too many."""
        return to_json([self.profile_id, self.task_id, self.situation]).decode()


class Turn(BaseModel):
    """What one side said. A message in parts, as OpenAI or Anthropic has it, becomes a text with places of parts."""

    model_config = ConfigDict(extra="allow")

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    parts: list[Part] = []

    @model_validator(mode="before")
    @classmethod
    def read_parts(cls, given: object) -> object:
        return read_message(given) if isinstance(given, dict) else given

    @model_validator(mode="after")
    def parts_are_within(self) -> Turn:
        check_parts(self.content, self.parts)
        return self

    @model_serializer(mode="wrap")
    def drop_no_parts(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        """A turn that is only text is stored as that."""
        found: dict[str, object] = dump(self)
        parts = [part.to_stored() for part in self.parts]
        return {**found, "parts": parts} if parts else {k: v for k, v in found.items() if k != "parts"}


Probability = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class DrawnRecord(Record):
    """What may have been drawn from more: `inclusion_probability` is the chance that the draw had of taking it."""

    inclusion_probability: Probability = 1.0


class DialogueRecord(DrawnRecord):
    turns: Annotated[list[Turn], Field(min_length=1)]
    profile_id: Id | None = None
    task_id: Id | None = None
    situation: dict[str, object] = {}
    assistant_model: Short = ""
    condition: Annotated[str, Field(max_length=40)] = ""

    @model_validator(mode="after")
    def situation_of_somebody(self) -> DialogueRecord:
        if self.situation and self.profile_id is None and self.task_id is None:
            raise ValueError("a situation needs a profile_id or a task_id that it belongs to")
        return self


def to_label(value: object) -> object:
    """The number of a response may be given as one."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


TEXTS = ("question", "context", "response_1", "response_2")
"""Texts of a pair, each of which may come in parts."""


class FurtherResponse(BaseModel):
    """A response from the third on."""

    model_config = ConfigDict(extra="forbid")

    text: str
    model: Short = ""
    parts: list[Part] = []

    @model_serializer(mode="wrap")
    def drop_empty(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Text alone is stored as that."""
        found: dict[str, object] = dump(self) | {"parts": [part.to_stored() for part in self.parts]}
        return {name: value for name, value in found.items() if value or name == "text"}


class PairRecord(DrawnRecord):
    """A question with its responses: `response_1` and `response_2`, or `responses`, a list of 1 to 12."""

    question: Filled
    response_1: str
    response_2: str
    parts: dict[Literal["question", "context", "response_1", "response_2"], list[Part]] = {}
    profile_id: Id | None = None
    context: str = ""
    model_1: Short = ""
    model_2: Short = ""
    n_responses: Annotated[int, Field(ge=1, le=MOST)] = 2
    further: list[FurtherResponse] = []
    kind: Annotated[str, Field(max_length=40)] = ""
    tier: Annotated[str, Field(max_length=16)] = ""
    label: Annotated[str, BeforeValidator(to_label)] = ""

    @model_validator(mode="before")
    @classmethod
    def read_parts(cls, given: object) -> object:
        given = responses.gather(given) if isinstance(given, dict) else given
        if not isinstance(given, dict) or not any(isinstance(given.get(name), list) for name in TEXTS):
            return given
        read = {name: read_content(given[name]) for name in TEXTS if isinstance(given.get(name), list)}
        told = given["parts"] if isinstance(given.get("parts"), dict) else {}
        return {
            **given,
            **{k: text for k, (text, _) in read.items()},
            "parts": told | {k: p for k, (_, p) in read.items()},
        }

    @model_validator(mode="after")
    def parts_are_within(self) -> PairRecord:
        for name, parts in self.parts.items():
            check_parts(getattr(self, name), parts)
        for one in self.further:
            check_parts(one.text, one.parts)
        return self

    @model_validator(mode="after")
    def label_is_of_a_response(self) -> PairRecord:
        if self.label not in ("", TIE, *(str(number) for number in range(1, self.n_responses + 1))):
            known = ", ".join(repr(str(number)) for number in range(1, self.n_responses + 1))
            raise ValueError(f"label: should be '', {known} or 'tie', not {self.label!r}")
        return self

    @model_serializer(mode="wrap")
    def drop_no_parts(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        """A pair that is only text is stored, and told from another, as that."""
        found: dict[str, object] = dump(self)
        found |= {"parts": {name: [part.to_stored() for part in parts] for name, parts in self.parts.items() if parts}}
        usual = {"parts": {}, "further": [], "n_responses": 2}
        return {name: value for name, value in found.items() if name not in usual or value != usual[name]}

    def fields(self) -> dict[str, object]:
        values = super().fields()
        source = {"source_tier": values.pop("tier"), "source_label": values.pop("label")}
        return {**values, **source}
