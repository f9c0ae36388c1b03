"""How long the texts are in which a criterion's spans may lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.studies.models.studies import Criterion, Item
from annotation.studies.queries import items
from annotation.studies.queries.items import list_texts
from annotation.studies.queries.units import to_position, to_turn

ROLES = {"user_turns": "user", "assistant_turns": "assistant"}


def load_lengths(criterion: Criterion, names: Sequence[str]) -> tuple[Mapping[str, int], ...]:
    """Of each row of a table, told by its name, the characters of each part. One query for two thousand items."""
    positions = sorted({to_position(name) for name in names})
    there = Item.objects.filter(pk__in=items.ids(criterion.study_id, positions)).select_related("dialogue", "pair")
    lengths = {
        item.position: {part: len(text) for part, text in select_texts(criterion, item).items()} for item in there
    }
    return tuple(_of_unit(criterion, lengths[to_position(name)], to_turn(name)) for name in names)


def _of_unit(criterion: Criterion, lengths: Mapping[str, int], turn: int) -> Mapping[str, int]:
    """Of a turn or response its own text alone."""
    if not turn:
        return lengths
    part = f"{criterion.part_noun}-{turn}"
    return {part: lengths[part]}


def select_texts(criterion: Criterion, item: Item) -> dict[str, str]:
    """The texts of the item in which spans may lie: its turns, or those of one side, or its responses."""
    texts = list_texts(item)
    if item.dialogue is None:
        return {name: text for name, text in texts.items() if name.startswith("response-")}
    role = ROLES.get(criterion.limits.get("where", ""))
    turns = enumerate(item.dialogue.turns, start=1)
    wanted = {f"turn-{number}" for number, turn in turns if role in (None, turn["role"])}
    return {name: text for name, text in texts.items() if name in wanted}
