"""What went into a call and came out of it, as tracing tools store it, read as turns.

They store what they were given: a text, a message, a list of messages, an object that has one of these under a usual
name, LangChain's serialised messages, or the answer of a provider.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.corpus.formats.base import Record, drop_nothing
from annotation.corpus.parsing.messages import is_dialogue, is_message, to_turns
from core.errors import InputError
from core.files.json_text import parse_json

LISTS = ("messages", "chat_history", "history")
TEXTS = {
    "user": ("input", "question", "prompt", "query", "text", "content", "message", "instruction"),
    "assistant": ("output", "answer", "response", "result", "completion", "text", "content", "message"),
}
LANGCHAIN = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
DEEPEST = 6


def read_trace(asked: object, answered: object) -> list[dict[str, object]]:
    """The turns of what went in, and of what came out after it; empty where neither is a conversation.

    What comes out may repeat what went in, as a graph's state does.
    """
    before, after = read_payload(asked, "user"), read_payload(answered, "assistant")
    if after[: len(before)] == before:
        return after
    return [*before, *after]


def read_payload(given: object, role: str, depth: int = 0) -> list[dict[str, object]]:
    """The turns in a payload whose plain texts are said by `role`; empty where it has none."""
    if depth > DEEPEST or given in (None, "", [], {}):
        return []
    if isinstance(given, str):
        parsed = parse_text(given)
        return [{"role": role, "content": given}] if parsed is None else read_payload(parsed, role, depth + 1)
    if isinstance(given, list):
        return read_list(given, role, depth)
    return read_object(given, role, depth) if isinstance(given, Mapping) else []


def parse_text(text: str) -> object:
    """An object or list that is written as JSON text; None for other texts."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text)
    except InputError:
        return None


def read_list(given: list[object], role: str, depth: int) -> list[dict[str, object]]:
    if all(isinstance(one, list) for one in given):
        return read_payload(given[0], role, depth + 1)
    messages = [to_message(one) for one in given if isinstance(one, Mapping)]
    if len(messages) == len(given) and is_dialogue(messages):
        return to_turns(messages)
    return read_payload(given[0], role, depth + 1) if len(given) == 1 else []


def read_object(given: Mapping[str, object], role: str, depth: int) -> list[dict[str, object]]:
    message = to_message(given)
    if is_message(message) and "role" in message:
        return to_turns([message]) if is_dialogue([message]) else []
    for name in ("choices", "generations"):
        if isinstance(listed := given.get(name), list):
            return read_payload(listed[:1], role, depth + 1)
    for name in LISTS:
        if isinstance(given.get(name), list) and (found := read_payload(given[name], role, depth + 1)):
            return found
    if isinstance(given.get("message"), Mapping):
        return read_payload(given["message"], role, depth + 1)
    for name in (*TEXTS[role], "inputs", "outputs", "kwargs"):
        if found := read_payload(given.get(name), role, depth + 1):
            return found
    return []


def to_message(given: Mapping[str, object]) -> dict[str, object]:
    """A message of LangChain as role and content; others as they are.

    https://python.langchain.com/api_reference/core/messages.html: serialised by class name, or as type and data.
    """
    inner = given.get("kwargs") if given.get("lc") else given.get("data")
    if not isinstance(inner, Mapping):
        return dict(given)
    name = path[-1] if given.get("lc") and isinstance(path := given.get("id"), list) and path else None
    role = LANGCHAIN.get(str(name)) or inner.get("role") or given.get("type")
    said = {each: inner[each] for each in ("content", "tool_calls", "tool_call_id", "name") if inner.get(each)}
    return {"content": "", **said, "role": role}


def build_trace(turns: list[dict[str, object]], **told: object) -> Record:
    """A dialogue of a trace. Beside the turns stands what a study may draw or group by."""
    kept = {name: value for name, value in told.items() if name not in ("id", "model")}
    return drop_nothing(
        {"id": str(told["id"]), "turns": turns, "assistant_model": str(told.get("model") or ""), **kept}
    )


def has_conversation(turns: list[dict[str, object]]) -> bool:
    """Whether somebody asks and a model answers."""
    roles = {turn["role"] for turn in turns}
    return {"user", "assistant"} <= roles
