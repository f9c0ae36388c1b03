"""The measures that stand at the heads of an experiment's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """A measure: its name, in full, and the ends of its scale, None where there is none."""

    key: str
    name: str
    title: str
    low: float | None
    high: float | None


TCR = Column("task_completion", "TCR", "Task completion rate", 0, 1)
P = Column("personalization", "P", "Personalization, 1–4", 1, 4)
NAT = Column("naturalness_assistant", "Nat", "Naturalness of the assistant, 1–5", 1, 5)
COH = Column("coherence_assistant", "Coh", "Coherence of the assistant, 1–5", 1, 5)
OF_ASSISTANT = (TCR, P, NAT, COH)
OF_USER = (
    Column("naturalness_user", "Naturalness", "Naturalness of the user agent, 1–5", 1, 5),
    Column("coherence_user", "Coherence", "Coherence of the user agent, 1–5", 1, 5),
)
OF_TALK = (
    Column("regular", "Ended as it should", "Share of dialogues that ended with the task done or at the limit", 0, 1),
    Column("done", "Task said to be done", "Share of dialogues that the user ended with the mark", 0, 1),
    Column("turns", "Turns", "Turns of a dialogue", None, None),
    Column("tokens", "Tokens", "Tokens written in a dialogue, by both sides", None, None),
    Column("leak", "First-turn leakage", "Share of first turns that name a preference", 0, 1),
    Column("user_repeats", "User repeats", "Share of the user's later turns that repeat an earlier one", 0, 1),
    Column("assistant_repeats", "Assistant repeats", "Share of the assistant's later turns that repeat one", 0, 1),
    Column("cut", "Cut turns", "Share of turns that went on for the other side", 0, 1),
)

DRIFT = Column("drift", "Contradicts", "Share of the user's turns that name what the profile does not hold", 0, 1)


def described(column: Column, *, is_difference: bool = False) -> dict[str, Any]:
    """A column for those who draw it. A difference may go as far as the scale is wide, both ways."""
    low, high = column.low, column.high
    if is_difference and low is not None and high is not None:
        low, high = low - high, high - low
    return {"key": column.key, "name": column.name, "title": column.title, "low": low, "high": high}
