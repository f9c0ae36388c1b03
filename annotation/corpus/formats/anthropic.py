"""Anthropic's Messages API, and HH-RLHF: a chosen and a rejected conversation, each as one text.

https://docs.anthropic.com/en/api/messages

https://huggingface.co/datasets/Anthropic/hh-rlhf
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotation.corpus.formats.base import (
    CHATS,
    PREFERENCES,
    ChatFormat,
    Record,
    Row,
    build_pair,
    drop_nothing,
    identify,
)
from annotation.corpus.parsing.messages import is_dialogue, is_transcript, parse_transcript, plain, to_turns
from core.errors import gettext_noop

BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")


def recognise(row: Row) -> bool:
    messages = row.get("messages")
    return is_dialogue(messages) and ("system" in row or any(has_blocks(one) for one in messages or []))


def has_blocks(message: Mapping[str, object]) -> bool:
    said = message.get("content")
    return isinstance(said, list) and any(isinstance(one, Mapping) and one.get("type") in BLOCKS for one in said)


def parse(row: Row) -> Iterator[Record]:
    """The request's messages after its system prompt, and the response after them where the row has it."""
    answer = row.get("response")
    before = [{"role": "system", "content": plain(row["system"])}] if row.get("system") else []
    after = [answer] if isinstance(answer, Mapping) else []
    turns = to_turns([*before, *row["messages"], *({"role": "assistant", "content": one["content"]} for one in after)])
    model = row.get("model") or next((one.get("model") for one in after), "")
    known = ("messages", "system", "response", "id", "model", "turns")
    rest = {name: value for name, value in row.items() if name not in known}
    identity = identify(row, "id", "custom_id", content=turns)
    yield drop_nothing({**rest, "id": identity, "turns": turns, "assistant_model": str(model or "")})


FORMAT = ChatFormat(
    "anthropic",
    "Anthropic messages",
    CHATS,
    "dialogues",
    gettext_noop(
        "Requests of the Messages API, with their response where the row has it. Thoughts and calls of tools are kept."
    ),
    '{"system": "…", "messages": [{"role": "user", "content": [{"type": "text", "text": "…"}]}, …]}',
    "https://docs.anthropic.com/en/api/messages",
    recognise,
    parse,
)


def recognise_pair(row: Row) -> bool:
    return all(isinstance(row.get(name), str) and is_transcript(row[name]) for name in ("chosen", "rejected"))


def parse_pair(row: Row) -> Iterator[Record]:
    """The pair; what both conversations begin with is its question."""
    chosen, rejected = (parse_transcript(row[name]) for name in ("chosen", "rejected"))
    rest = {name: value for name, value in row.items() if name not in ("chosen", "rejected", "id")}
    yield {**rest, "id": identify(row, "id"), **build_pair(chosen, rejected)}


PAIRS = ChatFormat(
    "hh_rlhf",
    "HH-RLHF",
    PREFERENCES,
    "pairs",
    gettext_noop(
        "A chosen and a rejected conversation on each line. Which of them is response 1 is drawn by their texts."
    ),
    r'{"chosen": "\n\nHuman: …\n\nAssistant: …", "rejected": "\n\nHuman: …\n\nAssistant: …"}',
    "https://huggingface.co/datasets/Anthropic/hh-rlhf",
    recognise_pair,
    parse_pair,
)
