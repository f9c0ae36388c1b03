"""What a side said, out of what its model replied (pure).

A reply may hold thoughts, the mark that ends the dialogue, a label in front, and a transcript that goes on for the
other side (`transcripts`). Only the side's own words are kept; what is taken away stays in the reply as it came.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from simulation.agents.parsing.reversal import is_refusal, repeats_instructions, speaks_as_assistant
from simulation.agents.parsing.transcripts import split_turn
from simulation.agents.prompts import MARK, Side

THOUGHT = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]*`)"
    r"|^[ \t]*<(?P<tag>think|thinking|thought|reasoning|state)>(?P<inside>.*?)(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
UNOPENED = re.compile(r"\A(?P<inside>[^`<]*)</think(?:ing)?>", re.IGNORECASE)
"""Some servers send the opening tag with the prompt, so that the reply holds the closing one alone."""

EMPTY, OTHER_SIDE, REFUSAL, TOO_LONG, CALL_FAILED = "empty", "other_side", "refusal", "too_long", "failed"
OVERSIZED, CUT_OFF, ECHO = "oversized", "cut_off", "echo"
PROBLEMS = {
    EMPTY: "said nothing",
    OTHER_SIDE: "spoke as the other side",
    REFUSAL: "refused",
    ECHO: "repeated its instructions",
    CUT_OFF: "was cut off at the limit of tokens",
    TOO_LONG: "the conversation no longer fits the model",
    OVERSIZED: "said more than this site reads",
    CALL_FAILED: "the call failed",
}


@dataclass(frozen=True, slots=True)
class Speech:
    """A side's turn.

    Attributes
    ----------
    text
        Its own words, perhaps none.
    thought
        What it thought aloud before.
    ended
        Whether it gave the mark that it has what it wants (user only).
    cut
        Whether the reply went on for the other side, which is not kept.
    problem
        Why this is no turn to go on from: a key of `PROBLEMS`, empty if it is one.
    """

    text: str
    thought: str = ""
    ended: bool = False
    cut: bool = False
    problem: str = ""


def parse_turn(
    reply: str,
    *,
    side: Side,
    refused: bool = False,
    cut_off: bool = False,
    mark: str = MARK,
    heard: str | None = None,
    instructions: str = "",
) -> Speech:
    """The turn in a reply.

    Parameters
    ----------
    refused, cut_off
        Whether the provider says that the model refused, or that the reply met the limit of tokens.
    mark
        What the user agent was told to end the dialogue with.
    heard
        What the other side said last, None where that is not known.
    instructions
        What the side was told, without facts about this user and task.
    """
    words, thought = drop_thoughts(reply, side)
    words, rest = split_turn(words.strip(), side, heard)
    ended = False
    if side == "user":
        words, ended = drop_mark(words, mark)
    if refused or (side == "user" and is_refusal(words)):
        problem = REFUSAL
    elif cut_off and not rest:
        problem = CUT_OFF
    elif not words:
        problem = OTHER_SIDE if rest else "" if ended else EMPTY
    elif repeats_instructions(words, instructions):
        problem = ECHO
    else:
        problem = OTHER_SIDE if side == "user" and speaks_as_assistant(words) else ""
    return Speech(words, thought, ended, bool(rest), problem)


def drop_thoughts(reply: str, side: Side) -> tuple[str, str]:
    """The reply without what was thought aloud outside of code, and the thoughts. Only the user agent keeps a state."""
    thoughts: list[str] = []

    def taken(match: re.Match[str]) -> str:
        if match["code"] or (match["tag"].lower() == "state" and side == "assistant"):
            return match[0]
        thoughts.append(match["inside"].strip())
        return ""

    if unopened := UNOPENED.match(reply):
        thoughts.append(unopened["inside"].strip())
        reply = reply[unopened.end() :]
    return THOUGHT.sub(taken, reply), "\n".join(thoughts)


def drop_mark(words: str, mark: str) -> tuple[str, bool]:
    """The words without the mark wherever it stands, and whether it was there."""
    rest, n = mark_pattern(mark).subn(" ", words)
    if not n:
        return words, False
    rest = re.sub(r"[ \t]{2,}", " ", rest).replace("\n ", "\n").strip()
    return ("" if not re.search(r"\w", rest) else rest), True


@cache
def mark_pattern(mark: str) -> re.Pattern[str]:
    """The mark with the emphasis or quotes around it. One in brackets is known in any case, other marks as they are."""
    if mark.startswith("[") and mark.endswith("]"):
        inner = rf"(?i:\\?[\[［【]\s*{re.escape(mark[1:-1])}\s*\\?[\]］】])"
    else:
        inner = rf"\[?{re.escape(mark)}\]?"
    return re.compile(rf"[*_`~\"“]{{0,3}}{inner}[*_`~\"”]{{0,3}}(?:[.!。]+(?=\s|\Z))?")
