"""What a side said, out of what its model replied (pure).

A reply may hold thoughts, the mark that ends the dialogue, a label in front, and lines in which the model goes on for
the other side. Only the side's own words are kept; what was taken away is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simulation.prompts import MARK, Side

THOUGHT = re.compile(r"<(think|state)>(?P<inside>.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
BRACKETED = re.compile(r"\[\s*END\s*\]", re.IGNORECASE)
LABELS = {
    "user": r"(?:user|person|human|customer|me)",
    "assistant": r"(?:assistant|ai|bot|agent|chatbot|virtual assistant)",
}
LABEL = r"^[ \t]*(?:\*\*|__)?{label}(?:\*\*|__)?[ \t]*:[ \t]*(?:\*\*|__)?[ \t]*"
OWN = {side: re.compile(LABEL.format(label=label), re.IGNORECASE) for side, label in LABELS.items()}
LINE = {side: re.compile(LABEL.format(label=label), re.IGNORECASE | re.MULTILINE) for side, label in LABELS.items()}
OTHER: dict[Side, Side] = {"user": "assistant", "assistant": "user"}
AS_ASSISTANT = re.compile(
    r"\bhow (?:can|may|could) I (?:help|assist)\b"
    r"|\bas an? (?:AI|artificial|(?:virtual |personal )?assistant|language model)\b"
    r"|\bI(?:['’]m| am) (?:here|happy|glad) to (?:help|assist)\b"
    r"|\banything else (?:that )?I can (?:help|assist|do)\b"
    r"|\bI(?:['’]d| would) be (?:happy|glad) to (?:help|assist)\b",
    re.IGNORECASE,
)
"""What assistants say and users do not. Words such as these make a user's turn an answer as the assistant."""

EMPTY, OTHER_SIDE, REFUSAL, TOO_LONG, CALL_FAILED = "empty", "other_side", "refusal", "too_long", "failed"
OVERSIZED = "oversized"
PROBLEMS = {
    EMPTY: "said nothing",
    OTHER_SIDE: "spoke as the other side",
    REFUSAL: "refused",
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


def read(reply: str, *, side: Side, refused: bool = False, mark: str = MARK) -> Speech:
    """The turn in a reply. `mark` is what ends the dialogue where the user says it."""
    thought = "\n".join(match["inside"].strip() for match in THOUGHT.finditer(reply))
    words, cut = own_words(THOUGHT.sub("", reply).strip(), side)
    ended = False
    if side == "user" and (found := mark_in(words, mark)):
        words, ended = words[: found.start()].rstrip(), True
    return Speech(words, thought, ended, cut, problem_of(words, side, ended=ended, cut=cut, refused=refused))


def mark_in(words: str, mark: str) -> re.Match[str] | None:
    """Where the mark stands: Concord's own with or without spaces and in any case, another letter for letter."""
    return BRACKETED.search(words) if mark == MARK else re.search(re.escape(mark), words)


def own_words(words: str, side: Side) -> tuple[str, bool]:
    """Without the side's own label, and up to where the other side begins to speak; and whether it did."""
    words = OWN[side].sub("", words, count=1)
    other = LINE[OTHER[side]].search(words)
    if other:
        words = words[: other.start()]
    again = LINE[side].search(words)  # a second turn of its own in one reply
    if again and again.start() > 0:
        words = words[: again.start()]
    return words.strip(), other is not None


def problem_of(words: str, side: Side, *, ended: bool, cut: bool, refused: bool) -> str:
    if refused:
        return REFUSAL
    if not words:
        return OTHER_SIDE if cut else "" if ended else EMPTY
    return OTHER_SIDE if side == "user" and AS_ASSISTANT.search(words) else ""
