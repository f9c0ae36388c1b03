"""Dialogues and names as other tools spell them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InputError

LONGEST_KEY = 60


def to_key(name: str) -> str:
    """A name as the key of a criterion: letters, digits, hyphens and underscores."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-")[:LONGEST_KEY]
    if not key:
        raise InputError(f"{name!r} cannot be the key of a criterion", field="criterion")
    return key


def render_dialogue(turns: Sequence[Mapping[str, Any]]) -> str:
    """A dialogue as one text, for tools that show nothing else."""
    return "\n\n".join(f"{turn['role'].capitalize()}: {turn['content']}" for turn in turns)
