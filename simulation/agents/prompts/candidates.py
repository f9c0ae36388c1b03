"""What a model is asked for a candidate response at a stated level of personalization (pure).

The levels are those from which PersonaFeedback (arXiv 2506.12915) contrasts responses: none, generic with the persona,
fully personalized; and over-personalized, where details of the person are forced in. The words are Concord's own.
"""

from __future__ import annotations

from collections.abc import Mapping
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
