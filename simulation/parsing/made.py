"""A model's reply as material, checked field by field (pure). What does not fit is refused with its field.

Every reader takes the reply's text and returns what was made; `UnfitError` says which field is wrong and how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulation.prompts.making import SITUATION, TypeSpec

T = TypeVar("T", bound=BaseModel)

SHORTEST_SUMMARY = 40


class UnfitError(ValueError):
    """A reply that is not what was asked for."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.message, self.field = message, field

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class Summary(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str = Field(min_length=SHORTEST_SUMMARY)


class TaskMade(BaseModel):
    model_config = ConfigDict(extra="forbid")

    description: str = Field(min_length=1)
    intent: str = Field(min_length=1)
    goal: str = Field(min_length=1)
    preference_types: list[str] = Field(min_length=1)


class Tasks(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tasks: list[TaskMade] = Field(min_length=1)


class ConflictFound(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: str = Field(min_length=1, max_length=200)
    explanation: str = Field(min_length=1)
    fields: list[str] = Field(min_length=1)


class Conflicts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    conflicts: list[ConflictFound]


def preferences(reply: str, types: Sequence[TypeSpec]) -> dict[str, str | list[str]]:
    """A value, or several, for each of the types, from those that are possible."""
    found, known = document(reply), {one.name: one for one in types}
    if strange := [name for name in found if name not in known]:
        raise UnfitError("is no preference of this domain", strange[0])
    if missing := [one.field for one in types if one.name not in found]:
        raise UnfitError("is missing", missing[0])
    return {name: value_of(known[name], value) for name, value in found.items()}


def value_of(wanted: TypeSpec, value: Any) -> str | list[str]:
    values = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not wanted.several and len(value) != 1:
        raise UnfitError("takes one value", wanted.field)
    if not values or not all(isinstance(one, str) and one.strip() for one in values):
        raise UnfitError("takes text" if not wanted.several else "takes a list of texts", wanted.field)
    if strange := [one for one in values if wanted.possible and one not in wanted.possible]:
        raise UnfitError(f"{strange[0]!r} is not one of {'; '.join(wanted.possible)}", wanted.field)
    return list(dict.fromkeys(values)) if wanted.several else str(values[0])


def summary(reply: str) -> str:
    return checked(reply, Summary).summary


def tasks(reply: str, types: Sequence[TypeSpec], n: int) -> list[dict[str, Any]]:
    """As many tasks as asked for, each about preference types that there are."""
    made, names = checked(reply, Tasks).tasks, {one.name for one in types}
    if len(made) != n:
        raise UnfitError(f"holds {len(made)} and not {n}", "tasks")
    for place, one in enumerate(made):
        if strange := [name for name in one.preference_types if name not in names]:
            raise UnfitError(f"{strange[0]!r} is no preference type here", f"tasks.{place}.preference_types")
    return [one.model_dump() for one in made]


def situation(reply: str) -> dict[str, str]:
    found = document(reply)
    for name in SITUATION:
        if not isinstance(found.get(name), str) or not found[name].strip():
            raise UnfitError("takes text", name)
    if strange := [name for name in found if name not in SITUATION]:
        raise UnfitError("was not asked for", strange[0])
    return {name: found[name].strip() for name in SITUATION}


def conflicts(reply: str, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Conflicts between fields that the profile has. There may be none."""
    found = checked(reply, Conflicts).conflicts
    for place, one in enumerate(found):
        if strange := [field for field in one.fields if field not in fields]:
            raise UnfitError(f"{strange[0]!r} is not in the profile", f"conflicts.{place}.fields")
    return [one.model_dump() for one in found]


def fields_of(demographics: Mapping[str, Any], preferences: Mapping[str, Any]) -> list[str]:
    """How the parts of a profile are named when they are in conflict."""
    held = [
        f"{domain}: {name}"
        for domain, types in preferences.items()
        for name in (types if isinstance(types, Mapping) else [])
    ]
    return [*(f"Demographics: {name}" for name in demographics), *held]


def document(reply: str) -> dict[str, Any]:
    """The JSON object in a reply; what stands before and after it is let pass."""
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise UnfitError("there is no JSON object in it", "reply")
    try:
        found = json.loads(reply[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise UnfitError(f"is no JSON: {error}", "reply") from error
    if not isinstance(found, dict):
        raise UnfitError("is no JSON object", "reply")
    return found


def checked(reply: str, kind: type[T]) -> T:
    try:
        return kind.model_validate(document(reply))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise UnfitError(problem["msg"], ".".join(str(part) for part in problem["loc"]) or "reply") from error
