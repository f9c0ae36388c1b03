"""The JSON objects in a text, found in one pass (pure): a reply is text from outside, and may be made to hold one up.

`json.JSONDecoder.raw_decode` at every brace takes time by the square of the length: each failure counts the lines
before it, and objects that are not closed are read again from each brace inside. Here nothing is read twice: where an
object breaks off, so does every open one inside it, and only the last string may hold the beginning of another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<string>"(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
      | (?P<scalar>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null|NaN|-?Infinity)
      | (?P<mark>[{}\[\]:,]))""",
    re.VERBOSE,
)
BLANK = re.compile(r"[ \t\n\r]*+")
DEEPEST = 200
"""Objects and lists inside each other. Deeper is no verdict, and would exhaust the decoder."""

KEY, KEY_OR_END, COLON, VALUE, VALUE_OR_END, AFTER_VALUE, AFTER_ITEM = range(7)
ALLOWED = {
    KEY: "s",
    KEY_OR_END: "s}",
    COLON: ":",
    VALUE: "sv{[",
    VALUE_OR_END: "sv{[]",
    AFTER_VALUE: ",}",
    AFTER_ITEM: ",]",
}
"""What may stand where: a string (s), another single value (v), or a mark."""

NEXT = {":": VALUE, "{": KEY_OR_END, "[": VALUE_OR_END}


def find_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the outermost objects with start and end, wherever they stand: alone, in code, between sentences."""
    start = text.find("{")
    while start >= 0:
        spans, resume = scan(text, start)
        for begin, end in spans:
            try:
                yield begin, end, json.loads(text[begin:end], strict=False)
            except (ValueError, RecursionError):  # a number of thousands of digits
                continue
        start = text.find("{", resume)


def scan(text: str, start: int) -> tuple[list[tuple[int, int]], int]:
    """Read the object at `start`. Return its span, or those of the whole ones in it if it breaks off; and where to
    look for the next one."""
    open_at: list[int] = []
    spans: list[tuple[int, int]] = []
    state, position, resume = VALUE, start, start + 1
    while token := TOKEN.match(text, position):
        kind = token["mark"] or ("s" if token["string"] else "v")
        if kind not in ALLOWED[state] or len(open_at) > DEEPEST:
            break
        position, begin = token.end(), token.start(token.lastgroup or 0)
        resume = begin + 1 if kind == "s" else position
        if kind in "{[":
            open_at.append(begin)
        elif kind in "}]":
            opened = open_at.pop()
            if kind == "}":
                keep_outermost(spans, (opened, position))
            if not open_at:
                return spans, position
        state = find_next_state(state, kind, in_object=text[open_at[-1]] == "{")
    broken = BLANK.match(text, position)
    at = broken.end() if broken else position
    return spans, at + 1 if text[at : at + 1] == '"' else resume


def find_next_state(state: int, kind: str, *, in_object: bool) -> int:
    """What is expected after a string, value or mark."""
    if kind in NEXT:
        return NEXT[kind]
    if kind == ",":
        return KEY if in_object else VALUE
    if state in (KEY, KEY_OR_END) and kind == "s":
        return COLON
    return AFTER_VALUE if in_object else AFTER_ITEM


def keep_outermost(spans: list[tuple[int, int]], span: tuple[int, int]) -> None:
    """Add a span, in place of those inside it."""
    while spans and spans[-1][0] > span[0]:
        spans.pop()
    spans.append(span)
