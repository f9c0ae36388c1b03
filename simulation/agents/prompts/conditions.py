"""What the assistant is told of the user: the conditions of an experiment (pure).

They are those of PersonaLens (arXiv 2506.09902): two lines of instruction (vanilla), a personal assistant that knows
nothing (base), and the same with demographics (D), summaries of past interactions (I), the situation (S), or all three;
and no instruction at all (none). `I retrieved` is the question that the paper leaves open: only the passages of the
summaries that fit what the user just said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simulation.agents.prompts.history import KINDS, STEPS

BM25, EMBEDDINGS = "bm25", "embeddings"


@dataclass(frozen=True, slots=True)
class Condition:
    """What an assistant gets: the role whose text instructs it, perhaps none, and parts of what is known of the user.

    `damage` is a kind of `history.KINDS`, and `step` how many percent of the summaries it spoils.
    `retriever` finds the passages that are shown: BM25 or EMBEDDINGS.
    """

    key: str
    name: str
    instruction: str = "assistant"
    parts: frozenset[str] = frozenset()
    damage: str = ""
    step: int = 0
    retriever: str = ""


PUBLISHED = {
    condition.key: condition
    for condition in (
        Condition("vanilla", "vanilla: two lines of instruction", instruction="vanilla"),
        Condition("base", "base: knows nothing of the user"),
        Condition("base+D", "base + demographics", parts=frozenset({"demographics"})),
        Condition("base+I", "base + past interactions", parts=frozenset({"interactions"})),
        Condition("base+S", "base + situation", parts=frozenset({"situation"})),
        Condition("base+all", "base + all three", parts=frozenset({"demographics", "interactions", "situation"})),
        Condition("none", "none: no instruction", instruction=""),
        Condition(
            "base+I-retrieved",
            "base + past interactions found by BM25",
            parts=frozenset({"retrieved"}),
            retriever=BM25,
        ),
        Condition(
            "base+I-embedded",
            "base + past interactions found by embeddings",
            parts=frozenset({"retrieved"}),
            retriever=EMBEDDINGS,
        ),
    )
}
DAMAGED = {
    condition.key: condition
    for kind, says in KINDS.items()
    for step in STEPS
    for condition in [
        Condition(
            f"base+I-{kind}-{step}",
            f"base + past interactions, {step} % {kind}: {says}",
            parts=frozenset({"interactions"}),
            damage=kind,
            step=step,
        )
    ]
}
"""Of the experiment on the quality of the history. `base+I` is its step 0."""

CONDITIONS = {**PUBLISHED, **DAMAGED}


def unknown(keys: Iterable[str]) -> list[str]:
    """Those of the keys that name no condition."""
    return [key for key in keys if key not in CONDITIONS]
