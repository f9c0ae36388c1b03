"""What formats of preferences share: conversations that part, and which side the better one is put on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.corpus.formats.base import Record
from annotation.corpus.parsing.mapped_rows import order_responses
from core.errors import InputError

Turns = Sequence[Mapping[str, Any]]


def build_pair(chosen: Turns, rejected: Turns) -> Record:
    """A pair of two conversations with the same beginning. InputError where they share none."""
    alike = 0
    while alike < min(len(chosen), len(rejected)) - 1 and chosen[alike] == rejected[alike]:
        alike += 1
    if not alike:
        raise InputError("the chosen and the rejected conversation do not begin alike", field="rejected")
    question = render(chosen[:alike])
    return {"question": question, **order_responses(render(chosen[alike:]), render(rejected[alike:]))}


def render(turns: Turns) -> str:
    """Turns as one text: a single one as it is, several with who speaks."""
    if len(turns) == 1:
        return str(turns[0]["content"])
    return "\n\n".join(f"{turn['role'].capitalize()}: {turn['content']}" for turn in turns)
