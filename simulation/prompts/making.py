"""What a model is asked when it makes material, or looks for conflicts in it (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judging.prompts.known import listed
from judging.prompts.templates import digest, filled
from simulation.prompts import NOTHING_KNOWN, nested, text
from simulation.prompts.scene import Cue, Message

SITUATION = ("Location", "Device", "Time of Day", "Day of the Week", "Environment")
"""What a situation says, as PersonaLens has it (arXiv 2506.09902)."""


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A preference type. `possible` are all values there are, empty where any text will do."""

    domain: str
    name: str
    description: str = ""
    several: bool = False
    possible: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        return f"{self.domain}: {self.name}"


def preferences(
    domain: str, types: Sequence[TypeSpec], demographics: Mapping[str, Any], known: Mapping[str, Any]
) -> Cue:
    return cue("preferences", domain=domain, types=described(types), **person(demographics, known))


def interactions(domain: str, demographics: Mapping[str, Any], held: Mapping[str, Any]) -> Cue:
    return cue("interactions", domain=domain, **person(demographics, {domain: held}))


def tasks(domains: Sequence[str], types: Sequence[TypeSpec], n: int) -> Cue:
    return cue("tasks", n=str(n), domains=", ".join(domains), types=described(types))


def situation(task: str, demographics: Mapping[str, Any]) -> Cue:
    return cue("situation", task=task, **person(demographics, {}))


def conflicts(demographics: Mapping[str, Any], held: Mapping[str, Any]) -> Cue:
    return cue("conflicts", **person(demographics, held))


def again(asked: Cue, reply: str, problem: str, *, is_json: bool = True) -> Cue:
    """The same once more, after a reply that does not fit."""
    words, _ = filled(text("making/again" if is_json else "making/again_in_words"), {"problem": problem}.__getitem__)
    said = (Message("assistant", reply or "(nothing)"), Message("user", words))
    return replace(asked, messages=(*asked.messages, *said))


def cue(name: str, **values: str) -> Cue:
    template = text(f"making/{name}")
    words, _ = filled(template, values.__getitem__)
    return Cue("", (Message("user", words),), digest(template))


def person(demographics: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, str]:
    return {"demographics": listed(demographics) or NOTHING_KNOWN, "preferences": nested(known) or NOTHING_KNOWN}


def described(types: Sequence[TypeSpec]) -> str:
    """A line for each type: what it is, whether there may be several, and the values."""
    lines = []
    for one in types:
        parts = [f"- {one.name}", f": {one.description}" if one.description else "", " Several." if one.several else ""]
        lines.append("".join(parts) + (f" One of: {'; '.join(one.possible)}" if one.possible else ""))
    return "\n".join(lines)
