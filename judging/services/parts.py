"""A run's items in parts: what a worker claims at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from annotation.models import Study
from judging.queries.requests import assistant_turns

ITEMS_PER_PART = 25


@dataclass(frozen=True, slots=True)
class Part:
    """Some items, and how many of them, or of their turns, are asked about."""

    item_ids: list[int]
    n_units: int


def of(rows: Iterable[tuple[int, str, str]], units: Mapping[int, int]) -> Iterator[Part]:
    """The items (key, id in the source, hash) in parts of about 25, in order.

    Items of the same text are in the same part, however many: who works on it asks about them once.
    """
    part: list[int] = []
    for alike in together(rows):
        if part and len(part) + len(alike) > ITEMS_PER_PART:
            yield Part(part, sum(units[pk] for pk in part))
            part = []
        part = [*part, *alike]
    if part:
        yield Part(part, sum(units[pk] for pk in part))


def together(rows: Iterable[tuple[int, str, str]]) -> Iterable[list[int]]:
    """The keys of items of the same text, where the first of them stands."""
    alike: dict[str, list[int]] = {}
    for pk, _, text_hash in rows:
        alike.setdefault(text_hash, []).append(pk)
    return alike.values()


def turns_of(study: Study) -> dict[int, int]:
    """By item, how many turns its assistant has. One query."""
    dialogues = study.items.order_by("position").values_list("pk", "dialogue__turns")
    return {pk: len(assistant_turns(turns)) for pk, turns in dialogues.iterator(chunk_size=500)}
