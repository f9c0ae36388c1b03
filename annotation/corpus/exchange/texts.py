"""Dialogues and names as other tools spell them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InputError

ROLES = {
    "user": "user",
    "human": "user",
    "customer": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "",
    "tool": "",
}
"""Who speaks, by what tools call them; nothing for what is no turn of a dialogue."""

LONGEST_KEY = 60


def to_turns(given: Any) -> list[dict[str, Any]]:
    """Turns with role and content. Raises InputError for what is no dialogue or whose speakers are unknown."""
    if not isinstance(given, list) or not given or not all(isinstance(turn, dict) for turn in given):
        raise InputError("a dialogue is a list of turns, each with who speaks and what", field="dialogue")
    turns = [to_turn(turn) for turn in given]
    kept = [turn for turn in turns if turn["role"]]
    if not kept:
        raise InputError("has no turn of a user or an assistant", field="dialogue")
    return kept


def to_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """One turn; what else it holds is kept."""
    who = str(find_first_value(turn, ("role", "author", "speaker", "from")))
    said = find_first_value(turn, ("content", "text", "value"))
    if who.casefold() not in ROLES:
        known = ", ".join(name for name, role in ROLES.items() if role)
        raise InputError(f"nobody knows who {who!r} is; speakers are: {known}", field="dialogue")
    rest = {name: value for name, value in turn.items() if name not in ("author", "speaker", "from", "text", "value")}
    return {**rest, "role": ROLES[who.casefold()], "content": plain(said)}


def find_first_value(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first name that is there."""
    for name in names:
        if name in given:
            return given[name]
    raise InputError(f"a turn has none of: {', '.join(names)}", field="dialogue")


def plain(said: Any) -> str:
    """Text, also from a message whose content is a list of parts."""
    if isinstance(said, list):
        return "\n".join(str(part.get("text", "")) for part in said if isinstance(part, dict) and "text" in part)
    if not isinstance(said, str):
        raise InputError(f"a turn says text, not {said!r}", field="dialogue")
    return said


def to_key(name: str) -> str:
    """A name as the key of a criterion: letters, digits, hyphens and underscores."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-")[:LONGEST_KEY]
    if not key:
        raise InputError(f"{name!r} cannot be the key of a criterion", field="criterion")
    return key


def render_dialogue(turns: Sequence[Mapping[str, Any]]) -> str:
    """A dialogue as one text, for tools that show nothing else."""
    return "\n\n".join(f"{turn['role'].capitalize()}: {turn['content']}" for turn in turns)
