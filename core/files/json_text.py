"""JSON that came from outside, read within limits."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic_core import from_json

from core.errors import InputError

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
        raise InputError(f"This is not JSON: {reword_message(str(error))}.", field=field) from error
    if SUSPICIOUS.search(content):
        refuse_unstorable(value, lambda path, why: InputError(f"{to_dotted_path(path) or 'It'} {why}.", field=field))
    return value


def reword_message(message: str) -> str:
    """A message of pydantic's parser, without its jargon."""
    return message.replace("recursion limit exceeded", "lists and objects are nested more than 200 deep")


def to_dotted_path(path: Sequence[str | int]) -> str | None:
    """`turns.0.role`; None for the record itself."""
    return ".".join(str(part) for part in path) or None


def refuse_unstorable(value: Any, error: Callable[[list[str | int], str], InputError]) -> None:
    """Raise `error(path, why)` for a number that is no number, or a text with a NUL character, inside `value`."""
    for path, part in leaves(value, []):
        if isinstance(part, float) and not math.isfinite(part):
            raise error(path, "is not a finite number")
        if isinstance(part, str) and "\0" in part:
            raise error(path, "holds a NUL character, which a database cannot store")


def leaves(value: Any, path: list[str | int]) -> Iterator[tuple[list[str | int], Any]]:
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
