"""The texts of an item in which words can be marked."""

from __future__ import annotations

from typing import Any

from annotation.studies.models.studies import Item

Mark = dict[str, Any]


def list_texts(item: Item) -> dict[str, str]:
    """The texts of an item in which words can be marked, by their names; with line ends as a browser has them."""
    if item.dialogue is not None:
        found = {f"turn-{number}": turn["content"] for number, turn in enumerate(item.dialogue.turns, start=1)}
    elif pair := item.pair:
        found = {"question": pair.question, "context": pair.context}
        found |= {one.part: str(one.text) for one in pair.responses}
    else:
        found = {}
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in found.items()}
