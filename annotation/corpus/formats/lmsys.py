"""LMSYS-Chat-1M, conversations with 25 models, and battles of Chatbot Arena, whose winner is the pair's own label.

https://huggingface.co/datasets/lmsys/lmsys-chat-1m

https://huggingface.co/datasets/lmsys/chatbot_arena_conversations (conversations),
https://huggingface.co/datasets/lmsys/lmsys-arena-human-preference-55k (lists of prompts and responses)
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from annotation.corpus.formats.base import (
    CHATS,
    PREFERENCES,
    ChatFormat,
    Record,
    Row,
    drop_nothing,
    identify,
    select,
)
from annotation.corpus.parsing.messages import is_dialogue, list_contents, to_turns
from core.errors import InputError, gettext_noop


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
    gettext_noop("Conversations with the model that answered. Moderation is kept as one flag."),
    '{"conversation_id": "…", "model": "vicuna-13b", "conversation": [...], "turn": 2, "language": "English", …}',
    "https://huggingface.co/datasets/lmsys/lmsys-chat-1m",
    recognise,
    parse,
)


WINNERS = {"model_a": "1", "model_b": "2", "tie": "tie", "tie (bothbad)": "tie"}
FLAGS = {"winner_model_a": "1", "winner_model_b": "2", "winner_tie": "tie"}


def recognise_pair(row: Row) -> bool:
    conversations = is_dialogue(row.get("conversation_a")) and is_dialogue(row.get("conversation_b"))
    return "model_a" in row and (conversations or {"response_a", "response_b", "winner_tie"} <= set(row))


def parse_pair(row: Row) -> Iterator[Record]:
    """The pair: all that the user said is its question, all that a model said its response."""
    talks = [read_talk(row, side) for side in ("a", "b")]
    winner = next((label for name, label in FLAGS.items() if str(row.get(name)) in ("1", "1.0", "True")), "")
    yield drop_nothing(
        {
            "id": identify(row, "question_id", "id"),
            "question": join(talks[0], "user"),
            "response_1": join(talks[0], "assistant"),
            "response_2": join(talks[1], "assistant"),
            "model_1": str(row.get("model_a") or ""),
            "model_2": str(row.get("model_b") or ""),
            "label": winner or WINNERS.get(str(row.get("winner")), ""),
            **select(row, "language", "tstamp"),
        }
    )


def join(turns: list[dict[str, object]], role: str) -> object:
    said = list_contents(turns, role)
    return said[0] if len(said) == 1 else "\n\n---\n\n".join(said)


def read_talk(row: Row, side: str) -> list[dict[str, object]]:
    """The conversation with one model. Lists are JSON text in a CSV file."""
    if f"conversation_{side}" in row:
        return to_turns(row[f"conversation_{side}"])
    asked, said = (read_list(row, name) for name in ("prompt", f"response_{side}"))
    messages = [("user", text) for text in asked] + [("assistant", text) for text in said]
    return [{"role": role, "content": text or ""} for role, text in messages]


def read_list(row: Row, name: str) -> list[object]:
    given = row.get(name)
    try:
        found = json.loads(given) if isinstance(given, str) else given
    except ValueError as error:
        raise InputError("is not JSON: {error}", field=name, error=error) from error
    if not isinstance(found, list):
        raise InputError("a list of texts is expected", field=name)
    return found


PAIRS = ChatFormat(
    "arena",
    "Chatbot Arena battles",
    PREFERENCES,
    "pairs",
    gettext_noop(
        "Two models with the same prompts. The winner becomes the pair's label; to import votes with their raters, "
        "choose the format votes."
    ),
    '{"question_id": "…", "model_a": "…", "model_b": "…", "winner": "model_a", "conversation_a": [...], …}',
    "https://huggingface.co/datasets/lmsys/chatbot_arena_conversations",
    recognise_pair,
    parse_pair,
)
