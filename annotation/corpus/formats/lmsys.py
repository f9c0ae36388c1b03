"""LMSYS-Chat-1M: conversations of the Vicuna demo and Chatbot Arena with 25 models.

https://huggingface.co/datasets/lmsys/lmsys-chat-1m
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.formats.base import CHATS, ChatFormat, Record, Row, drop_nothing, identify, select
from annotation.corpus.parsing.messages import is_dialogue, to_turns


def recognise(row: Row) -> bool:
    return "conversation_id" in row and "model" in row and is_dialogue(row.get("conversation"))


def parse(row: Row) -> Iterator[Record]:
    """The conversation with its language, and whether names in it were redacted."""
    turns = to_turns(row["conversation"])
    flagged = any(isinstance(one, dict) and one.get("flagged") for one in row.get("openai_moderation") or [])
    yield drop_nothing(
        {
            "id": identify(row, "conversation_id"),
            "turns": turns,
            "assistant_model": str(row.get("model") or ""),
            **select(row, "language", "redacted"),
            "flagged": flagged,
        }
    )


FORMAT = ChatFormat(
    "lmsys",
    "LMSYS-Chat-1M",
    CHATS,
    "dialogues",
    "Conversations with the model that answered. Moderation is kept as one flag.",
    '{"conversation_id": "…", "model": "vicuna-13b", "conversation": [...], "turn": 2, "language": "English", …}',
    "https://huggingface.co/datasets/lmsys/lmsys-chat-1m",
    recognise,
    parse,
)
