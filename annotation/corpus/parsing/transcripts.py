"""Dialogues written as one text, each turn after the name of who speaks: `Human: … Assistant: …`."""

from __future__ import annotations

import re
from typing import Any

from annotation.corpus.parsing.messages import ROLES
from core.errors import InputError

NAMES = "|".join(sorted((name for name in ROLES if name not in ("function_call",)), key=len, reverse=True))
SPEAKER = re.compile(rf"^[ \t]*[*#\[]*({NAMES})[\]*]*[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)


def parse_transcript(text: str) -> list[dict[str, Any]]:
    """Return the turns. InputError where the text does not begin with the name of a speaker.

    >>> parse_transcript("\\n\\nHuman: Hi\\nthere\\n\\nAssistant: Hello.")
    [{'role': 'user', 'content': 'Hi\\nthere'}, {'role': 'assistant', 'content': 'Hello.'}]
    """
    found = list(SPEAKER.finditer(text))
    if not found or text[: found[0].start()].strip():
        raise InputError("is no dialogue: each turn begins with a role, such as User: or Assistant:")
    ends = [*(one.start() for one in found[1:]), len(text)]
    return [
        {"role": ROLES[one[1].casefold()], "content": text[one.end() : end].strip()}
        for one, end in zip(found, ends, strict=True)
    ]


def is_transcript(text: str) -> bool:
    """Whether a text looks like a dialogue: it begins with a speaker, and somebody answers."""
    found = list(SPEAKER.finditer(text))
    return len(found) > 1 and not text[: found[0].start()].strip()
