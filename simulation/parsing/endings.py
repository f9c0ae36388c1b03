"""When a dialogue is over, and why (pure). The limits are those of PersonaLens (arXiv 2506.09902)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulation.parsing.speech import CALL_FAILED, EMPTY, OTHER_SIDE, REFUSAL, TOO_LONG
from simulation.prompts import Side
from simulation.stats.repetition import repeats

SINGLE_DOMAIN_TURNS, MULTI_DOMAIN_TURNS = 20, 30
"""The most turns of a dialogue, those of both sides counted."""

DONE, LIMIT = "done", "limit"
ENDINGS = {
    DONE: "the user said that the task is done",
    LIMIT: "the most turns were reached",
    "at_once": "the user ended it before the assistant had spoken",
    "repetition": "the user repeated itself",
    "user_empty": "the user said nothing",
    "user_other_side": "the user spoke as the assistant",
    "user_refusal": "the user agent refused",
    "user_too_long": "the conversation no longer fits the user agent",
    "user_oversized": "the user agent said more than this site reads",
    "user_failed": "the user agent could not be asked",
    "assistant_empty": "the assistant said nothing",
    "assistant_other_side": "the assistant spoke as the user",
    "assistant_refusal": "the assistant refused",
    "assistant_too_long": "the conversation no longer fits the assistant",
    "assistant_oversized": "the assistant said more than this site reads",
    "assistant_failed": "the assistant could not be asked",
}
REGULAR = (DONE, LIMIT)
"""Endings of dialogues in which both sides kept to their part. The others are counted apart."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn as far as the rules look at it. `problem` is a key of `simulation.parsing.speech.PROBLEMS`."""

    side: Side
    text: str
    ended: bool = False
    problem: str = ""


def ending(turns: Sequence[Spoken], *, limit: int) -> str:
    """Why the dialogue is over after these turns: a key of `ENDINGS`; empty if it goes on."""
    if not turns:
        return ""
    last = turns[-1]
    if last.problem:
        return f"{last.side}_{last.problem}"
    if last.ended:
        return DONE if any(turn.side == "assistant" for turn in turns) else "at_once"
    if last.side == "user" and repeats(last.text, [turn.text for turn in turns[:-1] if turn.side == "user"]):
        return "repetition"
    return LIMIT if len(turns) >= limit else ""


def next_side(n_turns: int) -> Side:
    """Who speaks after so many turns: the user opens, then they take turns."""
    return "assistant" if n_turns % 2 else "user"


def limit_for(*, is_multi_domain: bool, single: int = SINGLE_DOMAIN_TURNS, multi: int = MULTI_DOMAIN_TURNS) -> int:
    return multi if is_multi_domain else single


__all__ = [
    "CALL_FAILED",
    "DONE",
    "EMPTY",
    "ENDINGS",
    "LIMIT",
    "MULTI_DOMAIN_TURNS",
    "OTHER_SIDE",
    "REFUSAL",
    "REGULAR",
    "SINGLE_DOMAIN_TURNS",
    "TOO_LONG",
    "Spoken",
    "ending",
    "limit_for",
    "next_side",
]
