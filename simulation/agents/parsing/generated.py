"""A model's reply as material, checked field by field (pure). What does not fit is refused with its field.

Every reader takes the reply's text and returns what was made; `UnfitError` says which field is wrong and how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulation.agents.prompts.generation import SITUATION, TypeSpec

T = TypeVar("T", bound=BaseModel)

SHORTEST_SUMMARY = 40
FEWEST_DOMAINS, MOST_DOMAINS = 2, 5
"""Of a task of several domains, as PersonaLens has them (arXiv 2506.09902)."""


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


class GeneratedTask(BaseModel):
    """A task. `domains` are there where the model chooses them."""

    model_config = ConfigDict(extra="forbid")

    domains: list[str] = Field(default_factory=list)
    description: str = Field(min_length=1)
    intent: str = Field(min_length=1)
    goal: str = Field(min_length=1)
    preference_types: list[str] = Field(min_length=1)


class Tasks(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tasks: list[GeneratedTask] = Field(min_length=1)


class GeneratedConflict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: str = Field(min_length=1, max_length=200)
    explanation: str = Field(min_length=1)
    fields: list[str] = Field(min_length=1)


class Conflicts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    conflicts: list[GeneratedConflict]


def preferences(reply: str, types: Sequence[TypeSpec]) -> dict[str, str | list[str]]:
    """A value, or several, for each of the types, from those that are possible."""
    found, known = document(reply), {one.name: one for one in types}
    if strange := [name for name in found if name not in known]:
        raise UnfitError("is not a preference of this domain", strange[0])
    if missing := [one.field for one in types if one.name not in found]:
        raise UnfitError("is missing", missing[0])
    return {name: find_value(known[name], value) for name, value in found.items()}


def find_value(wanted: TypeSpec, value: object) -> str | list[str]:
    values: list[object] = value if isinstance(value, list) else [value]
    texts = [one for one in values if isinstance(one, str) and one.strip()]
    if isinstance(value, list) and not wanted.several and len(value) != 1:
        raise UnfitError("takes one value", wanted.field)
    if not texts or len(texts) < len(values):
        raise UnfitError("takes text" if not wanted.several else "takes a list of texts", wanted.field)
    if strange := [one for one in texts if wanted.possible and one not in wanted.possible]:
        raise UnfitError(f"{strange[0]!r} is not one of {'; '.join(wanted.possible)}", wanted.field)
    return list(dict.fromkeys(texts)) if wanted.several else texts[0]


def summary(reply: str) -> str:
    return check_reply(reply, Summary).summary


def tasks(reply: str, types: Sequence[TypeSpec], n: int) -> list[dict[str, str | list[str]]]:
    """As many tasks as asked for, each about preference types that there are."""
    made, names = check_reply(reply, Tasks).tasks, {one.name for one in types}
    if len(made) != n:
        raise UnfitError(f"holds {len(made)} and not {n}", "tasks")
    for place, one in enumerate(made):
        if strange := [name for name in one.preference_types if name not in names]:
            raise UnfitError(f"{strange[0]!r} is not a preference type here", f"tasks.{place}.preference_types")
    return [one.model_dump(exclude_unset=True) for one in made]


def tasks_multi(reply: str, types: Sequence[TypeSpec], n: int) -> list[dict[str, str | list[str]]]:
    """As many tasks as asked for, each of two to five of the types' domains and about types of all of these."""
    made, known = tasks(reply, types, n), {one.domain for one in types}
    for place, one in enumerate(made):
        domains = one.get("domains", [])
        if strange := [domain for domain in domains if domain not in known]:
            raise UnfitError(f"{strange[0]!r} is not a domain here", f"tasks.{place}.domains")
        if not FEWEST_DOMAINS <= len(set(domains)) == len(domains) <= MOST_DOMAINS:
            raise UnfitError("takes two to five domains, each once", f"tasks.{place}.domains")
        about = {two.domain for two in types if two.name in one["preference_types"]}
        if untouched := [domain for domain in domains if domain not in about]:
            raise UnfitError(f"none is of {untouched[0]}", f"tasks.{place}.preference_types")
    return made


def mask(reply: str, domains: Sequence[str]) -> dict[str, int]:
    """1 or 0 for each of the domains. Somebody who cares for none of them is refused: nothing could be asked for."""
    found = document(reply)
    if strange := [name for name in found if name not in domains]:
        raise UnfitError("was not asked for", strange[0])
    if wrong := [domain for domain in domains if found.get(domain) not in (0, 1)]:
        raise UnfitError("takes 1 or 0", wrong[0])
    if not any(found.values()):
        raise UnfitError("none of the domains has a 1", "mask")
    return {domain: int(found[domain] == 1) for domain in domains}


def situation(reply: str) -> dict[str, dict[str, str]]:
    """Each variable with its value and why it fits."""
    found, told = document(reply), {}
    for name in SITUATION:
        one = found.get(name)
        if not isinstance(one, dict) or set(one) != {"value", "justification"}:
            raise UnfitError("takes a value and a justification", name)
        if empty := [part for part, text in one.items() if not isinstance(text, str) or not text.strip()]:
            raise UnfitError("takes text", f"{name}.{empty[0]}")
        told[name] = {part: text.strip() for part, text in one.items()}
    if strange := [name for name in found if name not in SITUATION]:
        raise UnfitError("was not asked for", strange[0])
    return told


def conflicts(reply: str, fields: Sequence[str]) -> list[dict[str, object]]:
    """Conflicts between fields that the profile has. There may be none."""
    found = check_reply(reply, Conflicts).conflicts
    for place, one in enumerate(found):
        if strange := [field for field in one.fields if field not in fields]:
            raise UnfitError(f"{strange[0]!r} is not in the profile", f"conflicts.{place}.fields")
    return [one.model_dump() for one in found]


def list_fields(demographics: Mapping[str, object], preferences: Mapping[str, object]) -> list[str]:
    """How the parts of a profile are named when they are in conflict."""
    held = [
        f"{domain}: {name}"
        for domain, types in preferences.items()
        for name in (types if isinstance(types, Mapping) else [])
    ]
    return [*(f"Demographics: {name}" for name in demographics), *held]


def document(reply: str) -> dict[str, object]:
    """The JSON object in a reply; what stands before and after it is let pass."""
    start, end = reply.find("{"), reply.rfind("}")
    if start < 0 or end < start:
        raise UnfitError("there is no JSON object in it", "reply")
    try:
        found = json.loads(reply[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise UnfitError(f"is not JSON: {error}", "reply") from error
    if not isinstance(found, dict):
        raise UnfitError("is not a JSON object", "reply")
    return found


def check_reply(reply: str, kind: type[T]) -> T:
    try:
        return kind.model_validate(document(reply))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise UnfitError(problem["msg"], ".".join(str(part) for part in problem["loc"]) or "reply") from error
