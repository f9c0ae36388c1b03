"""What a model is asked when it makes material, looks for conflicts in it, or writes candidate responses (pure).

The levels of candidates are those from which PersonaFeedback (arXiv 2506.12915) contrasts responses: none, generic with
the persona, fully personalized; and over-personalized, where details of the person are forced in. So is the way to them
from seeds. Its prompts are not published: the words are Concord's own.
"""

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
    domains: Sequence[str], demographics: Mapping[str, object], *, replaced: Mapping[str, str] = NONE_REPLACED
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
    demographics: Mapping[str, object],
    known: Mapping[str, object],
    *,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    return cue("preferences", replaced, domain=domain, types=describe_types(types), **person(demographics, known))


def interactions(
    domain: str,
    demographics: Mapping[str, object],
    held: Mapping[str, object],
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
    demographics: Mapping[str, object],
    held: Mapping[str, object],
    *,
    replaced: Mapping[str, str] = NONE_REPLACED,
) -> Cue:
    """Where a task is done. `task` is its description, `held` are the preferences of its domains."""
    return cue("situation", replaced, task=task, **person(demographics, held))


def conflicts(
    demographics: Mapping[str, object], held: Mapping[str, object], *, replaced: Mapping[str, str] = NONE_REPLACED
) -> Cue:
    return cue("conflicts", replaced, **person(demographics, held))


def repeat_cue(asked: Cue, reply: str, problem: str, *, is_json: bool = True) -> Cue:
    """The same once more, after a reply that does not fit."""
    words, _ = fill(text("making/again" if is_json else "making/again_in_words"), {"problem": problem}.__getitem__)
    said = (Message("assistant", reply or "(nothing)"), Message("user", words))
    return replace(asked, messages=(*asked.messages, *said))


def cue(name: str, replaced: Mapping[str, str], **values: str) -> Cue:
    return fill_cue(replaced.get(name) or text(f"making/{name}"), **values)


def fill_cue(template: str, **values: str) -> Cue:
    """The text with these values, said by the user."""
    words, _ = fill(template, values.__getitem__)
    return Cue("", (Message("user", words),), digest(template))


GENERATORS = ("mask", "preferences", "interactions", "tasks", "tasks_multi", "situation", "conflicts")
"""What models are asked when they make material: the names of texts, which an order may replace."""


def problems(replaced: Mapping[str, str]) -> list[str]:
    """Why these texts cannot take the place of Concord's own, in sentences; nothing if they can."""
    if unknown := [name for name in replaced if name not in GENERATORS]:
        return [f"{unknown[0]!r} is not a prompt of these; there are {', '.join(GENERATORS)}."]
    return [
        f"{name}: {problem}"
        for name, template in replaced.items()
        for problem in misfits(template, names(text(f"making/{name}")), {}, "this prompt")
    ]


def person(demographics: Mapping[str, object], known: Mapping[str, object]) -> dict[str, str]:
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


LEVELS = ("none", "generic", "full", "over")
"""From nothing of the person to too much."""


def candidate(level: str, question: str, known: Mapping[str, object]) -> Cue:
    """What is asked for a response to `question` at `level`. `known` are columns of the profile."""
    return fill_cue(text(f"candidates/{level}"), question=question, persona=persona(known))


def persona(known: Mapping[str, Any]) -> str:
    """All that is known of a person, section by section; what is empty is left out."""
    sections = [
        known.get("name", ""),
        render_list(known.get("demographics") or {}),
        render_nested(known.get("preferences") or {}),
        render_list(known.get("interactions") or {}),
        known.get("persona", ""),
        "\n".join(f"- {memory}" for memory in known.get("memories") or []),
    ]
    return "\n\n".join(str(part).strip() for part in sections if part and str(part).strip()) or NOTHING_KNOWN


FEWEST_FACTS = 4


def describe_person(traits: Mapping[str, object]) -> Cue:
    """Ask for a person who has these traits."""
    return fill_cue(text("seeds/persona"), traits=render_list(traits), n=str(FEWEST_FACTS))


def ask_specific(known: Mapping[str, object], n: int) -> Cue:
    """Ask for questions that a person would put."""
    return fill_cue(text("seeds/specific"), persona=persona(known), n=str(n))


def ask_general(topics: Sequence[str], n: int) -> Cue:
    """Ask for questions that anybody could put."""
    return fill_cue(text("seeds/general"), topics="\n".join(f"- {topic}" for topic in topics), n=str(n))


def remember(known: Mapping[str, object], n: int) -> Cue:
    """Ask for passages that the person wrote earlier."""
    return fill_cue(text("seeds/memories"), persona=persona(known), n=str(n))


def judge_responses(question: str, responses: Sequence[str], known: Mapping[str, object]) -> Cue:
    """Ask of each response whether it answers, in which language, and at which level."""
    numbered = "\n\n".join(f"Response {place}:\n{one}" for place, one in enumerate(responses, start=1))
    return fill_cue(text("seeds/responses"), persona=persona(known), question=question, responses=numbered)
