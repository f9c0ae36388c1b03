"""What is known of items before anybody rates them: texts, setting, preferences. A query, however many items.

Where a criterion is asked of turns or responses, each of them is an item here: what is judged is its own text, and what
it answers is all that was said before it, or the question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from annotation.stats.difficulty.features import ItemFacts
from annotation.stats.reading import shortest_times
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import sampling_frame
from annotation.studies.queries.items import group_name


class DialogueRow(NamedTuple):
    turns: list[dict[str, str]]
    assistant_model: str
    condition: str
    scenario__task__domains: list[str] | None
    scenario__task__preference_types: list[str] | None


class PairRow(NamedTuple):
    question: str
    context: str
    response_1: str
    response_2: str
    further: list[dict[str, str]]
    n_responses: int
    model_1: str
    model_2: str
    kind: str


FIELDS = {Study.Kind.DIALOGUE.value: DialogueRow._fields, Study.Kind.PAIR.value: PairRow._fields}


def load_items(
    study: Study, positions: Collection[int] | None = None, *, of: str = Criterion.Unit.ITEM
) -> list[ItemFacts]:
    """Of the study's items, or those at some positions, named by position, in their order. One query.

    `of` is the unit that a criterion is asked of: turns and responses are named by position and number.
    """
    fields = FIELDS[study.kind]
    items = study.items.all() if positions is None else study.items.filter(position__in=positions)
    rows = items.order_by("position").values_list("position", *(f"{study.kind}__{name}" for name in fields))
    return list(_facts(study.kind, of, rows.iterator(chunk_size=2000)))


def load_shortest_times(study: Study, positions: Collection[int] | None = None) -> dict[int, float]:
    """By position, the seconds below which nobody has read what the page shows of an item. One query."""
    items = load_items(study, positions)
    texts = ["\n".join((one.prompt, *one.responses)) for one in items]
    return {int(one.name): seconds for one, seconds in zip(items, shortest_times(texts).tolist(), strict=True)}


def load_dataset(
    study: Study, *, prefix: str = "", of: str = Criterion.Unit.ITEM
) -> tuple[list[ItemFacts], dict[str, str]]:
    """Of what lies in the sources of the study's items and is not in the study, named by prefix and id.

    Turns and responses (`of`) also have their number in the name. Also, by prefix and id, the ids in the source. What
    annotators are checked or trained with is no part of it, as in a draw. Three queries.
    """
    sources = study.items.order_by().values_list(f"{study.kind}__source", flat=True).distinct()
    there = {one.id: one.key[1] for one in sampling_frame.eligible(study, filters={"source": list(sources)})}
    rows = sampling_frame.list_records(study.kind).order_by("pk").values_list("pk", *FIELDS[study.kind])
    few = rows.filter(pk__in=there) if len(there) <= MOST_NAMED else rows
    kept = ((f"{prefix}{row[0]}", *row[1:]) for row in few.iterator(chunk_size=2000) if row[0] in there)
    return list(_facts(study.kind, of, kept)), {f"{prefix}{pk}": name for pk, name in there.items()}


MOST_NAMED = 500
"""Ids that one query names; for more all rows are read, and the others passed over."""


def _facts(kind: str, of: str, rows: Iterable[tuple[object, ...]]) -> Iterator[ItemFacts]:
    if kind == Study.Kind.DIALOGUE:
        return (one for row in rows for one in _of_dialogue(str(row[0]), of, DialogueRow._make(row[1:])))
    return (one for row in rows for one in _of_pair(str(row[0]), of, PairRow._make(row[1:])))


def _of_dialogue(name: str, of: str, row: DialogueRow) -> Iterator[ItemFacts]:
    """The dialogue, or the turns of one side."""
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    for turn in row.turns:
        said.setdefault(turn["role"], []).append(turn["content"])
    types = row.scenario__task__preference_types
    domain = _named(row.scenario__task__domains)
    groups = {"domain": domain, "condition": row.condition, "assistant": row.assistant_model}
    whole = ItemFacts(name, tuple(said["assistant"]), "\n".join(said["user"]), groups, len(types) if types else None)
    if of == Criterion.Unit.ITEM:
        yield whole
        return
    texts = [turn["content"] for turn in row.turns]
    for place, turn in enumerate(row.turns):
        if turn["role"] == of.removesuffix("_turn"):
            before = "\n".join(texts[:place])
            yield replace(whole, name=f"{name}.{place + 1}", responses=(texts[place],), prompt=before)


def _of_pair(name: str, of: str, row: PairRow) -> Iterator[ItemFacts]:
    """The pair, or its responses."""
    texts = (row.response_1, row.response_2, *(one["text"] for one in row.further))[: row.n_responses]
    models = (row.model_1, row.model_2, *(one.get("model", "") for one in row.further))
    prompt = f"{row.question}\n{row.context}"
    if of == Criterion.Unit.ITEM:
        groups = {"kind": row.kind, "assistants": " / ".join(sorted(filter(None, models[:2])))}
        yield ItemFacts(name, texts, prompt, groups)
        return
    for number, (text, model) in enumerate(zip(texts, models, strict=False), start=1):
        yield ItemFacts(f"{name}.{number}", (text,), prompt, {"kind": row.kind, "assistant": model})


def _named(domains: object) -> str:
    return group_name(domains) if domains else ""
