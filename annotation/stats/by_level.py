"""Which result there is for which kind of answer: the one table that pages, commands and the API read.

A result that is not named under a level exists there. What is missing says why, in one sentence for a reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from annotation.stats.table import Level

Result = Literal[
    "agreement",
    "progress",
    "quality",
    "tiers",
    "difficulty",
    "gold",
    "adjudication",
    "disagreement",
    "alt_test",
    "calibration",
    "audit",
    "verdict",
]

TEXTS = "Texts are read and compared by people; nothing is computed of them."
SPANS = "Marked spans agree by degrees; how far is told by the F1 and alpha of agreement."
ONE_LABEL = f"{SPANS} This needs one label for each item."

NOT_FOR: dict[Result, dict[Level, str]] = {
    "agreement": {"text": TEXTS},
    "progress": {"spans": ONE_LABEL, "text": TEXTS},
    "quality": {"spans": ONE_LABEL, "text": TEXTS},
    "tiers": {"spans": ONE_LABEL, "text": TEXTS},
    "difficulty": {
        "set": "The difficulty model has none for sets of categories; tiers are counted.",
        "spans": ONE_LABEL,
        "text": TEXTS,
    },
    "gold": {"text": TEXTS},
    "adjudication": {
        "spans": "Marked spans are settled by the majority of the people, character by character: see gold.",
        "text": TEXTS,
    },
    "disagreement": {"spans": ONE_LABEL, "text": TEXTS},
    "alt_test": {"spans": ONE_LABEL, "text": TEXTS},
    "calibration": {"spans": ONE_LABEL, "text": TEXTS},
    "audit": {"spans": ONE_LABEL, "text": TEXTS},
    "verdict": {"spans": ONE_LABEL, "text": TEXTS},
}


def explain_missing(result: Result, level: str) -> str | None:
    """Why there is no such result for answers of this level; None where there is."""
    return {str(name): reason for name, reason in NOT_FOR[result].items()}.get(level)
