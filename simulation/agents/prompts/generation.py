"""What a model is asked when it makes material, or looks for conflicts in it (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judging.judges.prompts.known_facts import render_list
from judging.judges.prompts.templates import digest, fill, misfits, names
from simulation.agents.prompts import NONE_REPLACED, NOTHING_KNOWN, render_nested, text
from simulation.agents.prompts.scene import Cue, Message

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


def mask(
    domains: Sequence[str], demographics: Mapping[str, Any], *, replaced: Mapping[str, str] = NONE_REPLACED
) -> Cue:
    """Which of the domains the person cares for."""
    known = {
        "demographics": render_list(demographics) or NOTHING_KNOWN,
        "domains": "\n".join(f"- {one}" for one in domains),
    }
    return cue("mask", replaced, **known)


def preferences(
    domain: str,
    types: Sequence[TypeSpec],
    demographics: Mapping[str, Any],
    known: Mapping[str, Any],
    *,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    return cue("preferences", replaced, domain=domain, types=describe_types(types), **person(demographics, known))


def interactions(
    domain: str,
    demographics: Mapping[str, Any],
    held: Mapping[str, Any],
    *,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    return cue("interactions", replaced, domain=domain, **person(demographics, {domain: held}))


def tasks(
    domains: Sequence[str], types: Sequence[TypeSpec], n: int, *, replaced: Mapping[str, str] = NONE_REPLACED
) -> Cue:
    return cue("tasks", replaced, n=str(n), domains=", ".join(domains), types=describe_types(types))


def tasks_multi(types: Sequence[TypeSpec], n: int, *, replaced: Mapping[str, str] = NONE_REPLACED) -> Cue:
    """Tasks of several domains, which the model chooses from all that there are."""
    return cue("tasks_multi", replaced, n=str(n), types=describe_types(types))


def situation(
    task: str,
    demographics: Mapping[str, Any],
    held: Mapping[str, Any],
    *,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    """Where a task is done. `task` is its description, `held` are the preferences of its domains."""
    return cue("situation", replaced, task=task, **person(demographics, held))


def conflicts(
    demographics: Mapping[str, Any], held: Mapping[str, Any], *, replaced: Mapping[str, str] = NONE_REPLACED
) -> Cue:
    return cue("conflicts", replaced, **person(demographics, held))


def repeat_cue(asked: Cue, reply: str, problem: str, *, is_json: bool = True) -> Cue:
    """The same once more, after a reply that does not fit."""
    words, _ = fill(text("making/again" if is_json else "making/again_in_words"), {"problem": problem}.__getitem__)
    said = (Message("assistant", reply or "(nothing)"), Message("user", words))
    return replace(asked, messages=(*asked.messages, *said))


def cue(name: str, replaced: Mapping[str, str], **values: str) -> Cue:
    template = replaced.get(name) or text(f"making/{name}")
    words, _ = fill(template, values.__getitem__)
    return Cue("", (Message("user", words),), digest(template))


GENERATORS = ("mask", "preferences", "interactions", "tasks", "tasks_multi", "situation", "conflicts")
"""What models are asked when they make material: the names of texts, which an order may replace."""


def problems(replaced: Mapping[str, str]) -> list[str]:
    """Why these texts cannot take the place of Concord's own, in sentences; nothing if they can."""
    if unknown := [name for name in replaced if name not in GENERATORS]:
        return [f"{unknown[0]!r} is no prompt of these; there are {', '.join(GENERATORS)}."]
    return [
        f"{name}: {problem}"
        for name, template in replaced.items()
        for problem in misfits(template, names(text(f"making/{name}")), {}, "this prompt")
    ]


def person(demographics: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, str]:
    return {
        "demographics": render_list(demographics) or NOTHING_KNOWN,
        "preferences": render_nested(known) or NOTHING_KNOWN,
    }


def describe_types(types: Sequence[TypeSpec]) -> str:
    """A line for each type: what it is, whether there may be several, and the values; under domains if several."""
    by_domain: dict[str, list[str]] = {}
    for one in types:
        parts = [f"- {one.name}", f": {one.description}" if one.description else "", " Several." if one.several else ""]
        line = "".join(parts) + (f" One of: {'; '.join(one.possible)}" if one.possible else "")
        by_domain.setdefault(one.domain, []).append(line)
    if len(by_domain) == 1:
        return "\n".join(*by_domain.values())
    return "\n\n".join("\n".join([f"{domain}:", *lines]) for domain, lines in by_domain.items())
