"""Keys that stand twice in one JSON object. Parsers keep the last and say nothing; what it replaced would be lost."""

from __future__ import annotations

import json
import re
from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
COLON = re.compile(r"[ \t\n\r]*:")


class _TwiceError(Exception):
    pass


def key_twice(text: str) -> tuple[str, int] | None:
    """The first key that stands twice in one object, and the line (from 1) of its second place; None without one.

    `text` is valid JSON.
    """
    try:
        json.loads(text, object_pairs_hook=_once, parse_int=_nothing, parse_float=_nothing, parse_constant=_nothing)
    except _TwiceError:
        return _located(text)
    return None


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _TwiceError


def _nothing(text: str) -> None:
    """Replace a number by a mark: only its presence matters."""


def _located(text: str) -> tuple[str, int]:
    """As `key_twice`, of a text that holds one."""
    open_objects: list[set[str]] = []
    for token in TOKEN.finditer(text):
        what = token[0]
        if what in "{[":
            open_objects.append(set())
        elif what in "}]":
            open_objects.pop()
        elif COLON.match(text, token.end()):
            key = json.loads(what, strict=False)
            if key in open_objects[-1]:
                return key, text.count("\n", 0, token.start()) + 1
            open_objects[-1].add(key)
    raise ValueError("no key stands twice")
