"""Messages as tools write them, read as turns: `{"role", "content"}` and what belongs to them.

A turn's `content` is its text. Calls of tools stay beside it as OpenAI spells them:

    {"role": "assistant", "content": "", "tool_calls": [{"id", "type": "function", "function": {"name", "arguments"}}]}
    {"role": "tool", "content": "…", "tool_call_id": "…"}

`arguments` is JSON text. What a model thought before it answered is `reasoning_content`. Where a message has parts that
are no text, such as images, its `content` is the list of its parts (`contents.read_message` reads them).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.errors import InputError

ROLES = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
}
"""Who speaks, by what tools call them."""

SPEAKERS = ("role", "author", "speaker", "from", "type")
TEXTS = ("content", "text", "value", "parts")
OTHER_NAMES = ("author", "speaker", "from", "text", "value")
"""Of these nothing is kept: tools write speaker and text under several names at once."""
CALLS = "tool_calls"
REASONING = "reasoning_content"


def to_turns(given: object) -> list[dict[str, object]]:
    """Return the turns of a list of messages. InputError for what is no dialogue, or whose speakers are unknown."""
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise InputError("a dialogue is a list of turns, each with a role and a text", field="dialogue")
    turns = [turn for message in given for turn in split_message(message)]
    if not any(turn["role"] in ("user", "assistant") for turn in turns):
        raise InputError("has no turn of a user or an assistant", field="dialogue")
    return turns


def split_message(message: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The turns of one message: results of tools inside a message, as Anthropic has them, are turns of their own."""
    role = read_role(message)
    said = find_first_value(message, TEXTS)
    results = [one for one in said if is_result(one)] if isinstance(said, list) else []
    for one in results:
        yield to_result(one)
    rest = [one for one in said if not is_result(one)] if isinstance(said, list) and results else said
    if not results or rest:
        yield to_turn(message, role, rest)


def read_role(message: Mapping[str, object]) -> str:
    """Who speaks. InputError where nobody knows who that is."""
    who = find_first_value(message, SPEAKERS)
    who = who.get("role") if isinstance(who, Mapping) else who
    role = ROLES.get(str(who).casefold())
    if role is None:
        raise InputError(
            "nobody knows who {who!r} is; speakers are: {roles}", field="dialogue", who=who, roles=", ".join(ROLES)
        )
    return role


def to_turn(message: Mapping[str, Any], role: str, said: object) -> dict[str, object]:
    """One turn; what else the message holds is kept, but for nulls, with which Parquet fills what is not there."""
    texts = [name for name in TEXTS if name in message]
    used = {find_first_name(message, SPEAKERS), *(texts and [find_first_name(message, texts)]), *OTHER_NAMES, CALLS}
    turn = {name: value for name, value in message.items() if name not in used and value is not None}
    turn |= {"role": role, "content": plain(said, silent=may_be_silent(message))}
    blocks = [one for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []
    if any(is_other(one) for one in blocks):
        return turn | {"content": said} | ({CALLS: message[CALLS]} if message.get(CALLS) else {})
    if calls := [to_call(one) for one in (*(message.get(CALLS) or ()), *filter(is_call, blocks))]:
        turn[CALLS] = calls
    if message.get("from") == "function_call":
        turn |= {"content": "", CALLS: [read_written_call(turn["content"])]}
    if thought := "\n".join(filter(None, map(read_thought, blocks))):
        turn[REASONING] = thought
    return turn


def may_be_silent(message: Mapping[str, object]) -> bool:
    """Whether a message need not say anything: it calls tools, thinks or refuses instead."""
    return any(message.get(name) for name in (CALLS, "function_call", REASONING, "refusal"))


def is_other(part: Mapping[str, object]) -> bool:
    """Whether a part is neither text, nor a call, nor a thought: an image, say."""
    return not (isinstance(part.get("text"), str) or is_text(part) or is_call(part) or read_thought(part))


def find_first_name(given: Mapping[str, object], names: Sequence[str]) -> str:
    """The first of the names that is there with a value, else the first that is there. InputError without any."""
    there = [name for name in names if name in given]
    if not there:
        raise InputError("a turn has none of: {names}", field="dialogue", names=", ".join(names))
    return next((name for name in there if given[name] is not None), there[0])


def find_first_value(given: Mapping[str, object], names: Sequence[str]) -> object:
    """The value under that name; None for the text of a message that only calls tools."""
    if names is TEXTS and may_be_silent(given) and not set(names) & set(given):
        return None
    return given[find_first_name(given, names)]


def plain(said: object, *, silent: bool = False) -> str:
    """Text, also of a message whose content is a list of parts; empty where a `silent` message says nothing."""
    if isinstance(said, str):
        return said
    if isinstance(said, list):
        return "\n".join(filter(None, map(read_text, said)))
    if said is None and silent:
        return ""
    raise InputError("a turn says text, not {said!r}", field="dialogue", said=said)


def read_text(part: object) -> str:
    """The text of a part: OpenAI's and Anthropic's `text`, OpenTelemetry's `content` of type text."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    text = part.get("text") if "text" in part else part.get("content") if is_text(part) else ""
    return text if isinstance(text, str) else ""


def is_text(part: Mapping[str, object]) -> bool:
    return part.get("type") == "text"


def is_call(part: Mapping[str, object]) -> bool:
    return part.get("type") in ("tool_use", "tool_call")


def is_result(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("tool_result", "tool_call_response")


def read_thought(part: Mapping[str, object]) -> str:
    """What the model thought: Anthropic's `thinking`, OpenTelemetry's `reasoning`."""
    if part.get("type") not in ("thinking", "reasoning"):
        return ""
    return str(part.get("thinking") or part.get("content") or part.get("text") or "")


def to_call(given: Mapping[str, object]) -> dict[str, object]:
    """A call of a tool as OpenAI spells it, also from the spelling of Anthropic, LangChain, OpenTelemetry, inspect."""
    if isinstance(given.get("function"), Mapping):
        return {name: value for name, value in given.items() if value is not None}
    name = given.get("function") or given.get("name") or ""
    arguments = next((given[each] for each in ("input", "arguments", "args") if each in given), None)
    return build_call(str(given.get("id") or ""), str(name), arguments)


def build_call(identity: str, name: str, arguments: object) -> dict[str, object]:
    """A call as OpenAI spells it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def read_written_call(text: str) -> dict[str, object]:
    """A call written as JSON text, as ShareGPT's `function_call` is; as it stands where it is not JSON."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return build_call("", "", text)
    return build_call("", str(found.get("name") or ""), found.get("arguments"))


def to_result(part: Mapping[str, object]) -> dict[str, object]:
    """What a tool answered, as a turn."""
    given = next((part[name] for name in ("content", "response", "result") if name in part), "")
    text = given if isinstance(given, str) else render_result(given)
    call = str(part.get("tool_use_id") or part.get("id") or "")
    turn: dict[str, object] = {"role": "tool", "content": text, "tool_call_id": call}
    return {**turn, "is_error": True} if part.get("is_error") else turn


def render_result(given: object) -> str:
    """A result as text: that of its parts, else its JSON."""
    if isinstance(given, list) and given and all(isinstance(one, Mapping) and is_text(one) for one in given):
        return plain(given)
    return json.dumps(given, ensure_ascii=False)


def is_dialogue(value: object) -> bool:
    """Whether a value looks like a list of messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, Mapping) and is_message(one) for one in value)
        and any(read_role(one) in ("user", "assistant") for one in value)
    )


def is_message(value: Mapping[str, object]) -> bool:
    try:
        read_role(value)
    except InputError:
        return False
    return any(name in value for name in (*TEXTS, CALLS))


NAMES = "|".join(sorted((name for name in ROLES if name not in ("function_call",)), key=len, reverse=True))
SPEAKER = re.compile(rf"^[ \t]*[*#\[]*({NAMES})[\]*]*[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)


def parse_transcript(text: str) -> list[dict[str, object]]:
    """Return the turns. InputError where the text does not begin with the name of a speaker.

    >>> parse_transcript("\\n\\nHuman: Hi\\nthere\\n\\nAssistant: Hello.")
    [{'role': 'user', 'content': 'Hi\\nthere'}, {'role': 'assistant', 'content': 'Hello.'}]
    """
    found = list(SPEAKER.finditer(text))
    if not found or text[: found[0].start()].strip():
        raise InputError("is not a dialogue: each turn begins with a role, such as User: or Assistant:")
    ends = [*(one.start() for one in found[1:]), len(text)]
    return [
        {"role": ROLES[one[1].casefold()], "content": text[one.end() : end].strip()}
        for one, end in zip(found, ends, strict=True)
    ]


def render_dialogue(turns: Iterable[Mapping[str, object]]) -> str:
    """Return turns as one text, each after who speaks: what `parse_transcript` reads."""
    return "\n\n".join(f"{str(turn['role']).capitalize()}: {turn['content']}" for turn in turns)


def list_contents(turns: Iterable[Mapping[str, Any]], role: str) -> list[Any]:
    """What one of them says, turn by turn."""
    return [turn["content"] for turn in turns if turn["role"] == role]


def is_transcript(text: str) -> bool:
    """Whether a text looks like a dialogue: it begins with a speaker, and somebody answers."""
    found = list(SPEAKER.finditer(text))
    return len(found) > 1 and not text[: found[0].start()].strip()
