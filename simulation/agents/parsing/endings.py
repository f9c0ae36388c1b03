"""When a dialogue is over, and why (pure). The limits are those of PersonaLens (arXiv 2506.09902)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import gettext_noop
from simulation.agents.prompts import Side
from simulation.stats.utterances import repeats

EXCHANGES, MESSAGES = "exchanges", "messages"
"""What limits count. An exchange is a reply of the assistant and one of the user, after the user's opening."""

DONE, LIMIT = "done", "limit"
ENDINGS = {
    DONE: gettext_noop("the user said that the task is done"),
    LIMIT: gettext_noop("the limit was reached"),
    "at_once": gettext_noop("the user ended it before the assistant had spoken"),
    "repetition": gettext_noop("the user repeated itself"),
    "user_empty": gettext_noop("the user said nothing"),
    "user_other_side": gettext_noop("the user spoke as the assistant"),
    "user_refusal": gettext_noop("the user agent refused"),
    "user_echo": gettext_noop("the user agent repeated its instructions"),
    "user_cut_off": gettext_noop("the user agent's reply was cut off at its limit of tokens"),
    "user_too_long": gettext_noop("the conversation no longer fits the user agent"),
    "user_oversized": gettext_noop("the user agent said more than this site reads"),
    "user_failed": gettext_noop("the user agent could not be asked"),
    "assistant_empty": gettext_noop("the assistant said nothing"),
    "assistant_other_side": gettext_noop("the assistant spoke as the user"),
    "assistant_refusal": gettext_noop("the assistant refused"),
    "assistant_echo": gettext_noop("the assistant repeated its instructions"),
    "assistant_cut_off": gettext_noop("the assistant's reply was cut off at its limit of tokens"),
    "assistant_too_long": gettext_noop("the conversation no longer fits the assistant"),
    "assistant_oversized": gettext_noop("the assistant said more than this site reads"),
    "assistant_failed": gettext_noop("the assistant could not be asked"),
}
REGULAR = (DONE, LIMIT)
"""Endings of dialogues in which both sides kept to their part. The others are counted apart."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long dialogues of one and of several domains may be: 20 and 30 exchanges as published.

    Counted in exchanges, the assistant sends one closing reply after the user's end mark, and at the limit the user
    speaks last. Counted in messages, the end mark is the end, and the limit counts both sides.
    """

    single: int = 20
    multi: int = 30
    unit: str = EXCHANGES

    def messages(self, *, is_multi_domain: bool) -> int:
        """The most messages of a dialogue that nobody ends."""
        most = self.multi if is_multi_domain else self.single
        return 2 * most + 1 if self.has_closing_reply else most

    @property
    def has_closing_reply(self) -> bool:
        return self.unit == EXCHANGES


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn as far as the rules look at it. `problem` is a key of `simulation.agents.parsing.speech.PROBLEMS`."""

    side: Side
    text: str
    ended: bool = False
    problem: str = ""


def find_ending(turns: Sequence[TurnFacts], *, limit: int, closing: bool = False) -> str:
    """Why the dialogue is over after these turns: a key of `ENDINGS`; empty if it goes on.

    `limit` is in messages. With `closing`, the assistant replies once more after the user's end mark, unless the user
    said nothing but the mark, so that there is nothing to reply to.
    """
    if not turns:
        return ""
    last = turns[-1]
    if last.problem:
        return f"{last.side}_{last.problem}"
    if last.ended:
        if len(turns) == 1:
            return "at_once"
        return "" if closing and last.text else DONE
    if closing and len(turns) > 1 and turns[-2].ended:
        return DONE
    if last.side == "user" and repeats(last.text, [turn.text for turn in turns[:-1] if turn.side == "user"]):
        return "repetition"
    return LIMIT if len(turns) >= limit else ""


def choose_next_side(n_turns: int) -> Side:
    """Who speaks after so many turns: the user opens, then they take turns."""
    return "assistant" if n_turns % 2 else "user"
