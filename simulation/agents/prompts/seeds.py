"""What a model is asked on the way from seeds to candidates: personas, questions, memories, a look at responses (pure).

The way is PersonaFeedback's (arXiv 2506.12915), whose prompts are not published. The words are Concord's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judging.judges.prompts.known_facts import render_list
from judging.judges.prompts.templates import digest, fill
from simulation.agents.prompts import text
from simulation.agents.prompts.candidates import persona
from simulation.agents.prompts.scene import Cue, Message

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
