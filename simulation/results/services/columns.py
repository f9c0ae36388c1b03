"""The measures that stand at the heads of an experiment's tables."""

from __future__ import annotations

from dataclasses import dataclass

from simulation.results.result_types import ColumnDocument


@dataclass(frozen=True, slots=True)
class Column:
    """A measure: its name, in full, and the ends of its scale, None where there is none.

    `digits` are those that a page shows; `per` names the measure that a ratio of sums is divided by, none for a mean
    over dialogues.
    """

    key: str
    name: str
    title: str
    low: float | None
    high: float | None
    digits: int = 2
    per: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The scale, which no interval passes; None where it is open."""
        return None if self.low is None or self.high is None else (self.low, self.high)


TCR = Column("task_completion", "TCR", "Task completion rate: completed among dialogues with a verdict", 0, 1, 3)
TCR_PUBLISHED = Column(
    "task_completion_published",
    "TCR as published",
    "Task completion rate by PersonaLens's rule: completed among all dialogues; no verdict counts as failed",
    0,
    1,
    3,
)
P = Column("personalization", "P", "Personalization, 1–4", 1, 4)
NAT = Column("naturalness_assistant", "Nat", "Naturalness of the assistant, 1–5", 1, 5)
COH = Column("coherence_assistant", "Coh", "Coherence of the assistant, 1–5", 1, 5)
OF_ASSISTANT = (TCR, P, NAT, COH)
PUBLISHED = (TCR, TCR_PUBLISHED, P, NAT, COH)
OF_USER = (
    Column("naturalness_user", "Naturalness", "Naturalness of the user agent, 1–5", 1, 5),
    Column("coherence_user", "Coherence", "Coherence of the user agent, 1–5", 1, 5),
)
OF_CHECKS = (
    Column("first_turn_preference", "States a preference at once", "First turns that state one outright, judged", 0, 1),
    Column("persona_drift", "Contradicts", "Dialogues whose user contradicts profile or situation, judged", 0, 1),
    Column("goal_leakage", "Recites the goal", "Dialogues whose user recites the goal, judged", 0, 1),
)
DONE = Column("done", "Task said to be done", "Share of dialogues that the user ended with the mark", 0, 1)
REGULAR = Column(
    "regular", "Ended as it should", "Share of dialogues that ended with the task done or at the limit", 0, 1
)
OF_TALK = (
    REGULAR,
    DONE,
    Column("turns", "Turns", "Turns of a dialogue", None, None, 1),
    Column("tokens", "Tokens", "Tokens written in a dialogue, by both sides", None, None, 1),
    Column("leak", "First-turn leakage", "Share of first turns that name a preference", 0, 1),
    Column("user_repeats", "User repeats", "Share of the user's later turns that repeat an earlier one", 0, 1),
    Column("assistant_repeats", "Assistant repeats", "Share of the assistant's later turns that repeat one", 0, 1),
    Column("cut", "Cut turns", "Share of turns that went on for the other side", 0, 1),
    Column("cut_off", "Asked again", "Share of turns whose first reply met the limit of tokens", 0, 1),
)
DRIFT = Column("drift", "Contradicts", "Share of the user's turns that name what the profile does not hold", 0, 1)

DIALOGUES = Column("dialogues", "Dialogues", "Number of dialogues", None, None, 0)
OF_VARIETY = (
    Column("dist_1", "Dist-1", "Different words over all words of a dialogue", 0, 1, 3),
    Column("dist_2", "Dist-2", "Different pairs of words over all pairs of a dialogue", 0, 1, 3),
    Column("ent_4", "Ent-4", "Entropy of the runs of four words of a dialogue, in nats", None, None, 3),
    Column("self_bleu", "Self-BLEU", "Mean BLEU of an utterance against the others of its dialogue", 0, 1, 3),
)
OF_POOLED = (
    Column("dist_1_pooled", "Dist-1, pooled", "Different words over all words of all dialogues", 0, 1, 3),
    Column("dist_2_pooled", "Dist-2, pooled", "Different pairs of words over all pairs of all dialogues", 0, 1, 3),
    Column("ent_4_pooled", "Ent-4, pooled", "Entropy of the runs of four words of all dialogues", None, None, 3),
    Column("self_bleu_pooled", "Self-BLEU, pooled", "Mean BLEU of an utterance against all others", 0, 1, 3),
)
OF_SIZE = (
    Column("turns", "Messages per dialogue", "Messages of a dialogue, both sides", None, None),
    Column("exchanges", "Exchanges per dialogue", "Replies of the user after the first message", None, None),
    Column("words_per_turn", "Words per message", "Words and punctuation marks per message", None, None, 1, "turns"),
    Column("words_per_exchange", "Words per exchange", "Words of a dialogue per exchange", None, None, 1, "exchanges"),
    Column("tokens_per_turn", "Tokens per message", "Tokens as providers count, per message", None, None, 1, "turns"),
)


def describe_column(column: Column, *, is_difference: bool = False) -> ColumnDocument:
    """A column for those who draw it. A difference may go as far as the scale is wide, both ways."""
    low, high = column.low, column.high
    if is_difference and low is not None and high is not None:
        low, high = low - high, high - low
    return {
        "key": column.key,
        "name": column.name,
        "title": column.title,
        "low": low,
        "high": high,
        "digits": column.digits,
    }
