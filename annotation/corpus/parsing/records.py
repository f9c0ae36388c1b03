"""Concord's own formats: profiles, tasks, dialogues and pairs, one JSON object on each line. Unknown keys are kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import to_json

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
    def drop_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {key: value for key, value in given.items() if value is not None or key not in optional}

    def fields(self) -> dict[str, Any]:
        """The values by column, without the id and references to other records."""
        values = self.model_dump(exclude={"id", "profile_id", "task_id", "situation", *(self.model_extra or ())})
        return {**values, "extra": self.model_extra or {}}


class ProfileRecord(Record):
    name: Name = ""
    persona: str = ""
    demographics: dict[str, Any] = {}
    preferences: dict[str, Any] = {}
    interests: dict[str, Any] = {}
    interactions: dict[str, Any] = {}
    memories: list[Any] = []


class TaskRecord(Record):
    description: Filled
    intent: str = ""
    goal: str = ""
    domains: list[str] = []
    preference_types: list[str] = []

    def fields(self) -> dict[str, Any]:
        return {**super().fields(), "is_multi_domain": len(self.domains) > 1}


class ScenarioRecord(BaseModel):
    """Who has which task, and where."""

    model_config = ConfigDict(extra="forbid")

    profile_id: Id
    task_id: Id
    situation: dict[str, Any] = {}

    @property
    def id(self) -> str:
        """The three together: the same scenario twice is one too many."""
        return to_json([self.profile_id, self.task_id, self.situation]).decode()


class Turn(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Literal["user", "assistant"]
    content: str


class DialogueRecord(Record):
    turns: Annotated[list[Turn], Field(min_length=1)]
    profile_id: Id | None = None
    task_id: Id | None = None
    situation: dict[str, Any] = {}
    assistant_model: Short = ""
    condition: Annotated[str, Field(max_length=40)] = ""

    @model_validator(mode="after")
    def situation_of_somebody(self) -> DialogueRecord:
        if self.situation and self.profile_id is None and self.task_id is None:
            raise ValueError("a situation needs a profile_id or a task_id that it belongs to")
        return self


def to_label(value: Any) -> Any:
    """1 and 2 may be given as numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class PairRecord(Record):
    question: Filled
    response_1: str
    response_2: str
    profile_id: Id | None = None
    context: str = ""
    model_1: Short = ""
    model_2: Short = ""
    kind: Annotated[str, Field(max_length=40)] = ""
    tier: Annotated[str, Field(max_length=16)] = ""
    label: Annotated[Literal["", "1", "2", "tie"], BeforeValidator(to_label)] = ""

    def fields(self) -> dict[str, Any]:
        values = super().fields()
        source = {"source_tier": values.pop("tier"), "source_label": values.pop("label")}
        return {**values, **source}
