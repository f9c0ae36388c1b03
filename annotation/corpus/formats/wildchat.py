"""WildChat: conversations of people with ChatGPT, with language, country and moderation.

https://huggingface.co/datasets/allenai/WildChat-1M
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.formats.base import CHATS, ChatFormat, Record, Row, drop_nothing, identify, select
from annotation.corpus.parsing.messages import is_dialogue, to_turns
from core.errors import gettext_noop

KEPT = ("role", "content", "language")


def recognise(row: Row) -> bool:
    return "conversation_hash" in row and is_dialogue(row.get("conversation"))


def parse(row: Row) -> Iterator[Record]:
    """The conversation. Addresses and headers of the requests, which are data of a person, are left out."""
    turns = [{name: turn[name] for name in KEPT if name in turn} for turn in to_turns(row["conversation"])]
    yield drop_nothing(
        {
            "id": identify(row, "conversation_hash"),
            "turns": turns,
            "assistant_model": str(row.get("model") or ""),
            **select(row, "language", "country", "toxic", "redacted", "timestamp"),
        }
    )


FORMAT = ChatFormat(
    "wildchat",
    "WildChat",
    CHATS,
    "dialogues",
    gettext_noop("Conversations with ChatGPT. Hashed addresses and headers of requests are left out."),
    '{"conversation_hash": "…", "model": "gpt-4", "conversation": [...], "language": "English", "toxic": false, …}',
    "https://huggingface.co/datasets/allenai/WildChat-1M",
    recognise,
    parse,
)
