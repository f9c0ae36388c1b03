"""JSON that came from outside: read within limits, keys that stand twice, and the line of a value.

Of keys that stand twice parsers keep the last and say nothing; what it replaced would be lost.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from pydantic_core import from_json

from core.errors import InputError, gettext_noop

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


def _once(pairs: list[tuple[str, object]]) -> None:
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


BLANK = re.compile(r"[ \t\n\r]*")
DECODER = json.JSONDecoder()


def find_line(text: str, path: Sequence[str | int]) -> int:
    """Line (from 1) of the value that `path` leads to; where it leads nowhere, of the last part that exists."""
    position = skip_blank(text, 0)
    for step in path:
        found = child(text, position, step)
        if found is None:
            break
        position = found
    return text.count("\n", 0, position) + 1


def child(text: str, position: int, step: str | int) -> int | None:
    """Where the value of key or index `step` starts inside the object or list that starts at `position`."""
    opening, position = text[position : position + 1], skip_blank(text, position + 1)
    index = 0
    while opening in ("{", "[") and text[position] not in "}]":
        key: str | int = index
        if opening == "{":
            key, position = scanstring(text, position + 1)
            position = skip_blank(text, text.index(":", position) + 1)
        if key == step:
            return position
        _, position = DECODER.raw_decode(text, position)
        position = skip_blank(text, position)
        if text[position] == ",":
            position = skip_blank(text, position + 1)
        index += 1
    return None


def skip_blank(text: str, position: int) -> int:
    match = BLANK.match(text, position)
    return match.end() if match else position


# Cheap signs of what JSON can spell and a database cannot store: looked at closely only where one is seen.
SUSPICIOUS = re.compile(rb"NaN|Infinity|\\u0000|[0-9][eE]\+?[0-9]{3}|[0-9]{309}")


def parse_json(text: str | bytes, *, field: str | None = None) -> Any:
    """The value in a JSON text. Raises InputError for one that is not JSON, too deep, or cannot be stored.

    The limit of depth is the parser's own. It keeps everything behind it, which walks through values by recursion,
    from running out of stack.
    """
    try:
        content = text.encode() if isinstance(text, str) else text
        value = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(
            "This is not JSON: {reword_message}.", field=field, reword_message=reword_message(str(error))
        ) from error
    if SUSPICIOUS.search(content):
        refuse_unstorable(
            value,
            lambda path, why: InputError(
                "{to_dotted_path} {why}.", field=field, to_dotted_path=to_dotted_path(path) or "It", why=why
            ),
        )
    return value


def reword_message(message: str) -> str:
    """A message of pydantic's parser, without its jargon."""
    return message.replace("recursion limit exceeded", "lists and objects are nested more than 200 deep")


def to_dotted_path(path: Sequence[str | int]) -> str | None:
    """`turns.0.role`; None for the record itself."""
    return ".".join(str(part) for part in path) or None


def refuse_unstorable(value: object, error: Callable[[list[str | int], str], InputError]) -> None:
    """Raise `error(path, why)` for a number that is not a number, or a text with a NUL character, inside `value`."""
    for path, part in leaves(value, []):
        if isinstance(part, float) and not math.isfinite(part):
            raise error(path, gettext_noop("is not a finite number"))
        if isinstance(part, str) and "\0" in part:
            raise error(path, gettext_noop("holds a NUL character, which a database cannot store"))


def leaves(value: object, path: list[str | int]) -> Iterator[tuple[list[str | int], object]]:
    """Every key and every single value inside a JSON value, with its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield [*path, key], key
            yield from leaves(part, [*path, key])
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, [*path, index])
    else:
        yield path, value
