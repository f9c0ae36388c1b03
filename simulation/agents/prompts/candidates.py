"""What a model is asked for a candidate response at a stated level of personalization (pure).

The levels are those from which PersonaFeedback (arXiv 2506.12915) contrasts responses: none, generic with the persona,
fully personalized; and over-personalized, where details of the person are forced in. The words are Concord's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judging.judges.prompts.known import listed
from judging.judges.prompts.templates import digest, filled
from simulation.agents.prompts import NOTHING_KNOWN, nested, text
from simulation.agents.prompts.scene import Cue, Message

LEVELS = ("none", "generic", "full", "over")
"""From nothing of the person to too much."""


def candidate(level: str, question: str, known: Mapping[str, Any]) -> Cue:
    """What is asked for a response to `question` at `level`. `known` are columns of the profile."""
    template = text(f"candidates/{level}")
    words, _ = filled(template, {"question": question, "persona": persona(known)}.__getitem__)
    return Cue("", (Message("user", words),), digest(template))


def persona(known: Mapping[str, Any]) -> str:
    """All that is known of a person, section by section; what is empty is left out."""
    sections = [
        known.get("name", ""),
        listed(known.get("demographics") or {}),
        nested(known.get("preferences") or {}),
        listed(known.get("interactions") or {}),
        known.get("persona", ""),
        "\n".join(f"- {memory}" for memory in known.get("memories") or []),
    ]
    return "\n\n".join(str(part).strip() for part in sections if part and str(part).strip()) or NOTHING_KNOWN
