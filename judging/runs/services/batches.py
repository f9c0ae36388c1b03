"""A run's items in parts: what a worker claims at a time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.studies.models.studies import Study
from core.hashing import content_hash
from judging.judges.queries.contents import find_turns
from judging.runs.models.runs import JudgeRun

ITEMS_PER_PART = 25
TEXT: dict[str, tuple[str, ...]] = {
    Study.Kind.DIALOGUE: ("dialogue__turns",),
    Study.Kind.PAIR: (
        *("pair__question", "pair__context", "pair__response_1", "pair__response_2"),
        *("pair__n_responses", "pair__further"),
    ),
}
"""What two items have in common where their judge reads the same."""


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """Some items, and how many of them, or of their turns or responses, are asked about."""

    item_ids: list[int]
    n_units: int


def split_into_batches(study: Study, units: Mapping[int, int], *, size: int = ITEMS_PER_PART) -> Iterator[ItemBatch]:
    """The items (the keys of `units`, in order) in parts of about `size`.

    Items of the same text are in the same part, however many: who works on it asks about them once.
    """
    part: list[int] = []
    for alike in group_same_texts(study, units):
        if part and len(part) + len(alike) > size:
            yield ItemBatch(part, sum(units[pk] for pk in part))
            part = []
        part = [*part, *alike]
    if part:
        yield ItemBatch(part, sum(units[pk] for pk in part))


def group_same_texts(study: Study, chosen: Container[int]) -> Iterable[list[int]]:
    """The keys of items of the same text, where the first of them stands.

    The text is compared, not the hash of the record, which is another one for each id.
    """
    alike: dict[str, list[int]] = {}
    for pk, *text in iterate_rows(study, TEXT[study.kind]):
        if pk in chosen:
            alike.setdefault(content_hash(text), []).append(pk)
    return alike.values()


def count_units(study: Study, unit: str) -> dict[int, int]:
    """By item, in order, how many things of this unit are asked about. One query."""
    if unit == JudgeRun.Unit.TURN:
        return {pk: len(find_turns(turns)) for pk, turns in iterate_rows(study, ["dialogue__turns"])}
    if unit == JudgeRun.Unit.RESPONSE:
        return dict(iterate_rows(study, ["pair__n_responses"]))
    return {pk: 1 for (pk,) in iterate_rows(study, ())}


def iterate_rows(study: Study, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Each item's key and these columns, in order, a few at a time."""
    return study.items.order_by("position").values_list("pk", *columns).iterator(chunk_size=500)
