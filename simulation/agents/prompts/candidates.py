"""What a model is asked for candidate responses at stated levels, and on the way to them from seeds (pure).

The levels are those from which PersonaFeedback (arXiv 2506.12915) contrasts responses: none, generic with the persona,
fully personalized; and over-personalized, where details of the person are forced in. The words are Concord's own.

The way is PersonaFeedback's (arXiv 2506.12915), whose prompts are not published. The words are Concord's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judging.judges.prompts.known_facts import render_list
from judging.judges.prompts.templates import digest, fill
from simulation.agents.prompts import NOTHING_KNOWN, render_nested, text
from simulation.agents.prompts.scene import Cue, Message

LEVELS = ("none", "generic", "full", "over")
"""From nothing of the person to too much."""


def candidate(level: str, question: str, known: Mapping[str, Any]) -> Cue:
    """What is asked for a response to `question` at `level`. `known` are columns of the profile."""
    template = text(f"candidates/{level}")
    words, _ = fill(template, {"question": question, "persona": persona(known)}.__getitem__)
    return Cue("", (Message("user", words),), digest(template))


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


def describe_person(traits: Mapping[str, Any]) -> Cue:
    """Ask for a person who has these traits."""
    return _cue("persona", traits=render_list(traits), n=str(FEWEST_FACTS))


def ask_specific(known: Mapping[str, Any], n: int) -> Cue:
    """Ask for questions that a person would put."""
    return _cue("specific", persona=persona(known), n=str(n))


def ask_general(topics: Sequence[str], n: int) -> Cue:
    """Ask for questions that anybody could put."""
    return _cue("general", topics="\n".join(f"- {topic}" for topic in topics), n=str(n))


def remember(known: Mapping[str, Any], n: int) -> Cue:
    """Ask for passages that the person wrote earlier."""
    return _cue("memories", persona=persona(known), n=str(n))


def judge_responses(question: str, responses: Sequence[str], known: Mapping[str, Any]) -> Cue:
    """Ask of each response whether it answers, in which language, and at which level."""
    numbered = "\n\n".join(f"Response {place}:\n{one}" for place, one in enumerate(responses, start=1))
    return _cue("responses", persona=persona(known), question=question, responses=numbered)


def _cue(name: str, **values: str) -> Cue:
    template = text(f"seeds/{name}")
    words, _ = fill(template, values.__getitem__)
    return Cue("", (Message("user", words),), digest(template))
