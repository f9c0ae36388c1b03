"""OpenAI's chat messages, as fine-tuning files and logs of chat completions have them: one conversation on each line.

https://platform.openai.com/docs/api-reference/chat/create, https://platform.openai.com/docs/guides/supervised-fine-tuning
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotation.corpus.formats.base import CHATS, ChatFormat, Record, Row, drop_nothing, identify
from annotation.corpus.parsing.messages import is_dialogue, to_turns


def recognise(row: Row) -> bool:
    return is_dialogue(row.get("messages"))


def parse(row: Row) -> Iterator[Record]:
    """The conversation, with the answer of a logged completion after its request."""
    answers = [one.get("message") for one in row.get("choices") or [] if isinstance(one, Mapping)]
    turns = to_turns([*row["messages"], *answers[:1]])
    rest = {name: value for name, value in row.items() if name not in ("messages", "choices", "id", "model", "turns")}
    identity = identify(row, "id", "custom_id", content=turns)
    yield drop_nothing({**rest, "id": identity, "turns": turns, "assistant_model": str(row.get("model") or "")})


FORMAT = ChatFormat(
    "openai",
    "OpenAI messages",
    CHATS,
    "dialogues",
    "Messages of the chat API, one conversation on each line; calls of tools and their results are kept.",
    '{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "tool_calls": [...]}, …]}',
    "https://platform.openai.com/docs/api-reference/chat/create",
    recognise,
    parse,
)
