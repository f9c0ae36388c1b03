"""A text and what its parts are, as sections that a page shows one below the other.

`annotation.corpus.parsing.contents` says how parts are written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from django.utils.safestring import SafeString

from core.markup import to_safe_html
from core.rendering.markdown import attributes, highlight_lines, is_web, link_attributes, render_markdown, write_plain

HEADS = {"reasoning": "Reasoning", "tool_call": "Tool call", "tool_result": "Tool result", "citation": "Citation"}
ATTACHED = ("image", "audio", "elsewhere")


@dataclass(frozen=True)
class Section:
    """One part as a page shows it. `place` are the attributes that lead back to the source."""

    kind: str
    html: SafeString = field(default_factory=SafeString)
    head: str = ""
    alt: str = ""
    sha256: str = ""
    url: str = ""
    place: SafeString = field(default_factory=SafeString)


def build_sections(text: str, parts: Sequence[Mapping[str, str | int]]) -> list[Section]:
    """The text by its parts; the whole as Markdown where it has none. What no part covers is shown as well."""
    if not parts:
        return [Section("text", render_markdown(text))]
    return list(iterate_sections(text, parts))


def iterate_sections(text: str, parts: Sequence[Mapping[str, str | int]]) -> Iterator[Section]:
    at = 0
    for part in parts:
        head, start, end = build_head(part), int(part["start"]), int(part["end"])
        between = text[at:start]
        left = between.removesuffix(f"{head}:\n") if head else between
        if left.strip():
            yield Section("text", render_markdown(left, at))
        yield build_section(text[start:end], part, head)
        at = end
    if text[at:].strip():
        yield Section("text", render_markdown(text[at:], at))


def build_head(part: Mapping[str, object]) -> str:
    kind = str(part["kind"])
    if kind == "turn":
        return str(part.get("name", "")).capitalize()
    return f"{HEADS[kind]} {part.get('name', '')}".strip() if kind in HEADS else ""


def build_section(body: str, part: Mapping[str, str | int], head: str) -> Section:
    kind, start = str(part["kind"]), int(part["start"])
    if kind == "turn":
        return Section(kind, head=head)
    if kind in ATTACHED:
        return build_attached(body, part)
    if kind in ("text", "reasoning"):
        return Section(kind, render_markdown(body, start), head)
    if kind == "citation":
        return Section(kind, write_citation(body, start, str(part.get("url", ""))), head)
    return Section(kind, write_data(body, start), head)


def write_citation(body: str, start: int, url: str) -> SafeString:
    """What is cited, with its address as a link where it names one."""
    said = body.removesuffix(url) if is_web(url) else body
    if said == body:
        return write_plain(body, start)
    link = f"<a{link_attributes(url)}>{write_plain(url, start + len(said))}</a>"
    return to_safe_html(f"{write_plain(said, start) if said else ''}{link}")


def build_attached(body: str, part: Mapping[str, str | int]) -> Section:
    """A picture or a sound; one that is missing, or lies elsewhere, is named."""
    url = str(part.get("url", ""))
    return Section(
        str(part["kind"]),
        SafeString(escape(body)),  # nosec B703 # escaped here
        alt=str(part.get("alt") or part.get("name") or ""),
        sha256=str(part.get("sha256", "")),
        url=url if is_web(url) else "",
        place=SafeString(attributes(int(part["start"]), int(part["end"]), whole=True)),  # nosec B703 # numbers
    )


def write_data(body: str, start: int) -> SafeString:
    """What a tool is asked or says, letter by letter, with its words marked where it is JSON."""
    lines = highlight_lines(body, "json" if is_json(body) else "")
    place = attributes(start, start + len(body), whole=False)
    return to_safe_html(f'<pre dir="ltr"><code><span{place}>{chr(10).join(lines)}</span></code></pre>')


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
