"""OpenAI's chat messages, and its files for direct preference optimisation: an input, a preferred and another output.

https://platform.openai.com/docs/api-reference/chat/create, https://platform.openai.com/docs/guides/supervised-fine-tuning

https://platform.openai.com/docs/guides/direct-preference-optimization
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
from annotation.corpus.parsing.messages import is_dialogue, to_turns
from core.errors import gettext_noop


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
    gettext_noop("Messages of the chat API, one conversation on each line; calls of tools and their results are kept."),
    '{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "tool_calls": [...]}, …]}',
    "https://platform.openai.com/docs/api-reference/chat/create",
    recognise,
    parse,
)


OUTPUTS = ("preferred_output", "non_preferred_output")


def recognise_pair(row: Row) -> bool:
    return isinstance(row.get("input"), dict) and all(isinstance(row.get(name), list) for name in OUTPUTS)


def parse_pair(row: Row) -> Iterator[Record]:
    """The pair; its question is the input."""
    asked = to_turns(row["input"]["messages"])
    preferred, other = ([*asked, *to_turns(row[name])] for name in OUTPUTS)
    yield {"id": identify(row, "id"), **build_pair(preferred, other)}


PAIRS = ChatFormat(
    "openai_preferences",
    "OpenAI preferences",
    PREFERENCES,
    "pairs",
    gettext_noop("Files for direct preference optimisation: an input with a preferred and a non-preferred output."),
    '{"input": {"messages": [...]}, "preferred_output": [...], "non_preferred_output": [...]}',
    "https://platform.openai.com/docs/guides/direct-preference-optimization",
    recognise_pair,
    parse_pair,
)
