"""A study as other tools' formats take it: what is asked, and its items one by one with what was said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import groupby

from annotation.corpus.exchange.dataset import ExchangedAnswer, Kind, Rated, Scale, StudyHead
from annotation.corpus.models import ASKED, Profile, ResponsePair, Task
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.labels import LabelRow

CHUNK = 500

Named = Callable[[LabelRow], str]


def build_head(study: Study) -> StudyHead:
    """What is asked, with which scales."""
    scales = tuple(build_scale(criterion) for criterion in study.criteria.all())
    kind: Kind = "pair" if study.kind == Study.Kind.PAIR else "dialogue"
    return StudyHead(study.name, kind, scales, study.description)


def build_scale(criterion: Criterion) -> Scale:
    return Scale(
        key=criterion.key,
        name=criterion.name,
        question=criterion.question,
        level=criterion.level,
        categories=tuple(criterion.categories),
        guideline=criterion.guideline,
        unit=criterion.unit,
        type=criterion.type,
        help=criterion.help,
        examples=tuple(criterion.examples),
        limits=criterion.limits,
        is_required=criterion.is_required,
        condition=criterion.condition,
    )


def iterate_rated(study: Study, labels: Iterable[Iterable[LabelRow]], name: Named) -> Iterator[Rated]:
    """The items in their order. `labels` are rows in the order of the items; `name` calls their raters.

    The first item's facts tell the study, so that a file is enough to make it anew. Memory does not grow with it.
    """
    streams = [groupby(rows, key=lambda row: row.position) for rows in labels]
    waiting = [next(stream, None) for stream in streams]
    told: dict[str, object] = {"study": to_document(build_head(study))}
    for item in iterate_items(study):
        answers: list[ExchangedAnswer] = []
        for k, group in enumerate(waiting):
            if group is not None and group[0] == item.position:
                answers += [build_answer(row, name(row)) for row in group[1]]
                waiting[k] = next(streams[k], None)
        facts = {"position": item.position, "stratum": item.stratum, "inclusion": item.inclusion_probability}
        yield Rated(build_record(item), tuple(answers), {**facts, **told})
        told = {}


def to_document(head: StudyHead) -> dict[str, object]:
    """As JSON types."""
    scales = [asdict(one) | {"categories": list(one.categories), "examples": list(one.examples)} for one in head.scales]
    return {**asdict(head), "scales": scales}


def iterate_items(study: Study) -> Iterator[Item]:
    """All items in their order, read some at a time: a sort of all would come before the first."""
    texts = (
        ["dialogue__scenario__profile", "dialogue__scenario__task"] if study.kind == "dialogue" else ["pair__profile"]
    )
    items = study.items.select_related(*texts).order_by("position")
    last = 0
    while some := list(items.filter(position__gt=last)[:CHUNK]):
        yield from some
        last = some[-1].position


def build_record(item: Item) -> dict[str, object]:
    """The dialogue or pair as a line of Concord's own JSONL, and where it comes from."""
    if item.pair is not None:
        pair = item.pair
        given: dict[str, object] = {
            "question": pair.question,
            "context": pair.context,
            **build_responses(pair),
            "kind": pair.kind,
            "tier": pair.source_tier,
            "label": pair.source_label,
            "profile_id": to_name(pair.profile),
        }
        return {**pair.extra, "id": pair.external_id, "source": pair.source, **drop_empty(given)}
    dialogue = item.dialogue
    if dialogue is None:  # the database promises one of the two
        raise ValueError(f"item {item.pk} is about nothing")
    scenario = dialogue.scenario
    given = {
        "turns": dialogue.turns,
        "assistant_model": dialogue.assistant_model,
        "condition": dialogue.condition,
        "profile_id": to_name(scenario.profile if scenario else None),
        "task_id": to_name(scenario.task if scenario else None),
        "situation": scenario.situation if scenario else {},
    }
    return {**dialogue.extra, "id": dialogue.external_id, "source": dialogue.source, **drop_empty(given)}


def build_responses(pair: ResponsePair) -> dict[str, object]:
    """The responses of a record: of two under names of their own, else a list of all."""
    if pair.n_responses != 2:
        asked = {name: pair.parts[name] for name in ASKED if name in pair.parts}
        return {"responses": pair.to_responses(), "parts": asked}
    return {
        "response_1": pair.response_1,
        "response_2": pair.response_2,
        "parts": pair.parts,
        "model_1": pair.model_1,
        "model_2": pair.model_2,
    }


def drop_empty(given: dict[str, object]) -> dict[str, object]:
    """Without what is empty, but for the texts that a record must have."""
    needed = ("question", "response_1", "response_2", "turns")
    return {name: value for name, value in given.items() if value or name in needed}


def to_name(row: Profile | Task | None) -> str:
    return f"{row.source}:{row.external_id}" if row else ""


def build_answer(row: LabelRow, rater: str) -> ExchangedAnswer:
    """A row as an answer."""
    told = {
        "rater": rater,
        "criterion": row.criterion,
        "value": row.value,
        "reason": row.unscored_reason,
        "of_judge": row.judge_run is not None,
        "order": row.order,
        "turn": row.turn or 0,
        "repeat": row.repeat or 1,
        "note": row.note,
        "strength": row.strength,
        "active_seconds": row.active_seconds,
        "submitted_at": row.submitted_at.isoformat() if row.submitted_at else "",
        "guideline_version": row.guideline_version,
        "content": row.content,
    }
    return ExchangedAnswer.from_extras({"evidence": tuple(row.evidence)}, **told)
