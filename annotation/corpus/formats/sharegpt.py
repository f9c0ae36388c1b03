"""ShareGPT: conversations with `from` and `value`, as FastChat and LLaMA-Factory read them.

https://github.com/lm-sys/FastChat/blob/main/docs/vicuna_weights_version.md,
https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md#sharegpt-format
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.formats.base import CHATS, ChatFormat, Record, Row, drop_nothing, identify
from annotation.corpus.parsing.messages import to_turns
from core.errors import gettext_noop

NAMES = ("conversations", "conversation")


def recognise(row: Row) -> bool:
    talk = next((row[name] for name in NAMES if name in row), None)
    return isinstance(talk, list) and bool(talk) and all(isinstance(one, dict) and "from" in one for one in talk)


def parse(row: Row) -> Iterator[Record]:
    """The conversation, after its system prompt where that stands apart."""
    talk = row["conversation"] if "conversation" in row else row["conversations"]
    before = [{"role": "system", "content": row["system"]}] if row.get("system") else []
    turns = to_turns([*before, *talk])
    rest = {name: value for name, value in row.items() if name not in (*NAMES, "id", "model", "system", "turns")}
    identity = identify(row, "id", content=turns)
    yield drop_nothing({**rest, "id": identity, "turns": turns, "assistant_model": str(row.get("model") or "")})


FORMAT = ChatFormat(
    "sharegpt",
    "ShareGPT",
    CHATS,
    "dialogues",
    gettext_noop("Conversations whose turns have from (human, gpt, system, function_call, observation) and value."),
    '{"id": "1", "conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}',
    "https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md#sharegpt-format",
    recognise,
    parse,
)
