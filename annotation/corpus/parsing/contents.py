"""What a turn or a response consists of: text, reasoning, tool calls and results, citations, pictures, sounds (pure).

A turn has a `content`, the source text that everything reads: search, judges, marks, exports. Where it came in parts
(OpenAI's messages, or Anthropic's content blocks), `parts` says which of its characters are what:

    {"role": "assistant", "content": "Tool call weather:\\n{\\"city\\": \\"Paris\\"}",
     "parts": [{"kind": "tool_call", "start": 19, "end": 36, "name": "weather", "id": "call_1"}]}

A picture or a sound stands in the text as `[image: NAME]`; its bytes are an attachment, named by their SHA-256. A
response that is a whole dialogue is a text in which a part of the kind `turn`, without a length, begins each turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["text", "reasoning", "tool_call", "tool_result", "citation", "image", "audio", "elsewhere", "turn"]
ATTACHED = ("image", "audio")
HEADS = {"reasoning": "Reasoning", "tool_call": "Tool call", "tool_result": "Tool result", "citation": "Citation"}
"""What stands in the text on a line before a part of this kind, with its name where it has one."""

BESIDE = ("tool_calls", "function_call", "reasoning", "reasoning_content", "annotations", "refusal")
CONSUMED = (*BESIDE, "tool_call_id", "name")
"""Keys of a message that become parts."""


class Part(BaseModel):
    """Which characters of the text are what. `file` and `data` are how an attachment came; `sha256` is stored."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    name: str = ""
    id: str = ""
    url: str = ""
    alt: str = ""
    sha256: str = Field("", pattern="^([0-9a-f]{64})?$")
    type: str = ""
    file: str = ""
    data: str = ""

    def to_stored(self) -> dict[str, object]:
        return self.model_dump(exclude_defaults=True) | {"start": self.start, "end": self.end}


def check_parts(text: str, parts: Iterable[Part]) -> None:
    """ValueError unless the parts follow each other within the text."""
    at, parts = 0, list(parts)
    if parts and "\r" in text:
        raise ValueError("parts: the text has line ends of another kind than \\n, so that places in it are not sure")
    for part in parts:
        if not at <= part.start <= part.end <= len(text):
            raise ValueError(f"parts: {part.start} to {part.end} is not in the text behind the part before")
        if part.kind in ATTACHED and not (part.sha256 or part.file or part.data):
            raise ValueError(f"parts: the {part.kind} {part.name!r} names no file")
        at = part.end


def read_content(given: object) -> tuple[str, list[dict[str, object]]]:
    """Text and parts of what is said: a text by itself, or a list of parts. ValueError for anything else."""
    if isinstance(given, str):
        return given, []
    if not isinstance(given, list):
        raise ValueError("should be text or a list of parts")  # noqa: TRY004 — pydantic tells it to the person
    return write_sections([section for part in given for section in read_part(part)])


def read_message(given: Mapping[str, object]) -> dict[str, object]:
    """A turn from a message in parts, with tool calls, reasoning or annotations; a plain one as it is."""
    content, is_tool = given.get("content"), given.get("role") in ("tool", "function")
    if "parts" in given or not isinstance(content, str | list | None):
        return dict(given)
    beside = any(given.get(name) for name in BESIDE)
    if content is None and not beside:
        return dict(given)
    role = {"developer": "system", "function": "tool"}.get(str(given.get("role")), given.get("role"))
    if isinstance(content, str) and not is_tool and not beside:
        return {**given, "role": role}
    sections = list(read_reasoning(given))
    for part in [content] if isinstance(content, str) and content else content or []:
        found = list(read_part(part))
        sections += [to_result(one, given) for one in found] if is_tool else found
    sections += read_after(given)
    text, parts = write_sections(sections)
    return {**{k: v for k, v in given.items() if k not in CONSUMED}, "role": role, "content": text, "parts": parts}


def to_result(section: dict[str, object], message: Mapping[str, object]) -> dict[str, object]:
    """What a tool says, as its result."""
    if section["kind"] != "text":
        return section
    names = {"name": str(message.get("name") or ""), "id": str(message.get("tool_call_id") or "")}
    return {**section, "kind": "tool_result", **names}


def read_reasoning(message: Mapping[str, object]) -> Iterator[dict[str, object]]:
    for name in ("reasoning", "reasoning_content"):
        if isinstance(said := message.get(name), str) and said:
            yield {"kind": "reasoning", "text": said}


def read_after(message: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """What stands beside a message's content: a refusal, calls of tools, citations."""
    if refusal := message.get("refusal"):
        yield {"kind": "text", "text": str(refusal)}
    calls = message.get("tool_calls") or ([call] if (call := message.get("function_call")) else [])
    for call in calls:
        asked = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(asked, dict) or not asked.get("name"):
            raise ValueError("tool_calls: a call names a function and its arguments")
        yield from build_tool_call(asked["name"], asked.get("arguments", ""), call.get("id", ""))
    for one in message.get("annotations") or ():
        cited = one.get("url_citation", one) if isinstance(one, dict) else {}
        yield from read_citation(cited)


def read_part(part: object) -> Iterator[dict[str, object]]:
    """The sections of one part, as OpenAI, Anthropic or Concord call it."""
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    if not isinstance(part, dict) or part.get("type") not in READERS:
        known = ", ".join(READERS)
        raise ValueError(f"a part has a type, which is one of {known}; not {part!r:.80}")
    try:
        yield from READERS[part["type"]](part)
    except (KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"a part of type {part['type']} lacks {error}") from error


def read_text(text: object, citations: Iterable[Mapping[str, object]] | None) -> Iterator[dict[str, object]]:
    yield {"kind": "text", "text": str(text)}
    for cited in citations or ():
        yield from read_citation(cited)


def read_citation(cited: Mapping[str, object]) -> Iterator[dict[str, object]]:
    title = str(cited.get("title") or cited.get("document_title") or "")
    url, quote = str(cited.get("url") or ""), str(cited.get("cited_text") or cited.get("text") or "")
    yield {"kind": "citation", "text": "\n".join(filter(None, (quote, url))) or title, "name": title, "url": url}


def build_tool_call(name: object, arguments: object, identity: object) -> Iterator[dict[str, object]]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=2)
    yield {"kind": "tool_call", "text": text, "name": str(name), "id": str(identity or "")}


def read_tool_result(part: Mapping[str, object]) -> Iterator[dict[str, object]]:
    said = part.get("content") or ""
    for one in said if isinstance(said, list) else [said]:
        for section in read_part(one):
            yield to_result(section, {"name": part.get("name"), "tool_call_id": part.get("tool_use_id")})


def read_image_url(part: Mapping[str, object]) -> Iterator[dict[str, object]]:
    given = part["image_url"]
    url = given["url"] if isinstance(given, dict) else given
    yield build_attached("image", str(url), part)


def build_attached(kind: str, address: str, part: Mapping[str, object]) -> dict[str, object]:
    """A picture or a sound by its address: in a `data:` address, a file beside the records, or elsewhere."""
    told = {"alt": str(part.get("alt") or ""), "name": str(part.get("name") or "")}
    if address.startswith("data:"):
        head, _, data = address.partition(",")
        if not head.endswith(";base64"):
            raise ValueError(f"the {kind} is a data: address without ;base64")
        return {"kind": kind, "data": data, "type": head[5:].split(";")[0], **told}
    if "://" in address:
        return {"kind": "elsewhere", "url": address, **told, "name": told["name"] or address}
    return {"kind": kind, "file": address, **told, "name": told["name"] or address.rsplit("/", 1)[-1]}


def read_media(source: Mapping[str, object] | None, part: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """A picture of Anthropic's (`source`), or a file beside the records (`file`)."""
    kind = str(part["type"])
    if source is None:
        yield build_attached(kind, str(part["file"]), part)
    elif source["type"] == "base64":
        yield build_attached(kind, f"data:{source['media_type']};base64,{source['data']}", part)
    else:
        yield build_attached(kind, str(source["url"]), part)


def read_input_audio(given: Mapping[str, object], part: Mapping[str, object]) -> Iterator[dict[str, object]]:
    yield build_attached("audio", f"data:audio/{given['format']};base64,{given['data']}", part)


READERS: dict[str, Callable[[dict[str, Any]], Iterator[dict[str, object]]]] = {
    "text": lambda part: read_text(part["text"], part.get("citations")),
    "input_text": lambda part: read_text(part["text"], part.get("citations")),
    "output_text": lambda part: read_text(part["text"], part.get("citations")),
    "refusal": lambda part: iter([{"kind": "text", "text": str(part["refusal"])}]),
    "reasoning": lambda part: iter([{"kind": "reasoning", "text": str(part.get("text") or part["reasoning"])}]),
    "thinking": lambda part: iter([{"kind": "reasoning", "text": str(part["thinking"])}]),
    "tool_use": lambda part: build_tool_call(part["name"], part.get("input", {}), part.get("id")),
    "tool_call": lambda part: build_tool_call(part["name"], part.get("arguments", {}), part.get("id")),
    "tool_result": read_tool_result,
    "citation": read_citation,
    "image_url": read_image_url,
    "image": lambda part: read_media(part.get("source"), part),
    "audio": lambda part: read_media(part.get("source"), part),
    "input_audio": lambda part: read_input_audio(part["input_audio"], part),
}
"""How parts are called, by whom ever."""


def is_content(given: object) -> bool:
    """Whether this is a list of parts, all of kinds that are known."""
    return isinstance(given, list) and all(isinstance(one, Mapping) and one.get("type") in READERS for one in given)


def write_sections(sections: Iterable[Mapping[str, object]]) -> tuple[str, list[dict[str, object]]]:
    """The source text of sections one below the other, and where in it each stands."""
    texts, parts, at = [], [], 0
    for section in sections:
        head, body = write_section(section)
        start = at + len(head)
        fields = {name: value for name, value in section.items() if name != "text" and value}
        parts.append({**fields, "start": start, "end": start + len(body)})
        texts.append(head + body)
        at = start + len(body) + 2
    text = "\n\n".join(texts)
    return text, [] if all(part["kind"] == "text" for part in parts) else parts


def write_talk(turns: Iterable[Mapping[str, Any]]) -> tuple[str, list[dict[str, object]]]:
    """The source text of a dialogue, and where in it each turn begins, with the parts of what is said."""
    text, parts = "", list[dict[str, object]]()
    for turn in turns:
        role = str(turn["role"])
        text += ("\n\n" if text else "") + f"{role.capitalize()}:\n"
        parts.append({"kind": "turn", "name": role, "start": len(text), "end": len(text)})
        moved = ({**part, "start": part["start"] + len(text), "end": part["end"] + len(text)} for part in turn["parts"])
        parts += moved
        text += turn["content"]
    return text, parts


def write_section(section: Mapping[str, object]) -> tuple[str, str]:
    """The line that says what follows, and the text itself. Line ends are those of a browser, so that offsets hold."""
    kind, name = section["kind"], str(section.get("name") or "")
    if kind in (*ATTACHED, "elsewhere"):
        what = "picture elsewhere" if kind == "elsewhere" else kind
        return "", f"[{what}: {': '.join(filter(None, (name, str(section.get('alt', ''))))) or 'without a name'}]"
    body = str(section["text"]).replace("\r\n", "\n").replace("\r", "\n")
    return (f"{HEADS[kind]} {name}".strip() + ":\n" if kind in HEADS else ""), body
