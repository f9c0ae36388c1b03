"""Find the line of a value in a JSON document, to locate an error."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]

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
