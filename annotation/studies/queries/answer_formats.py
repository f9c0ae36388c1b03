"""Answers as the page gives them, which calls responses by their sides, and as they are stored, by their numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from annotation.stats.orders import list_shown, name_parts
from annotation.stats.rankings import parse_ranking, spell_ranking
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import Answer, AnswerFormat, StoredSpan, spell_answer
from annotation.studies.queries.items import list_texts

if TYPE_CHECKING:
    from annotation.studies.queries.asks import Ask

ROLES = {"user_turns": "user", "assistant_turns": "assistant"}


def build_format(slot: Assignment, ask: Ask) -> AnswerFormat:
    """Which answers the page takes: responses are called A, B, …. Texts are read only for spans and rewrites."""
    criterion = ask.criterion
    texts = list_shown_texts(slot, ask) if criterion.type in (Criterion.Type.SPANS, Criterion.Type.REWRITE) else {}
    return AnswerFormat(
        type=criterion.type,
        values=criterion.values,
        limits=criterion.limits,
        responses=tuple(slot.sides),
        texts=texts,
        original=next(iter(texts.values()), None) if criterion.type == Criterion.Type.REWRITE else None,
    )


def list_shown_texts(slot: Assignment, ask: Ask) -> dict[str, str]:
    """The texts that the criterion is about, by their names on the page: of the turn or response, or all there are."""
    texts = list_texts(slot.item)
    shown = {part: side for side, part in name_parts(slot.order).items()}
    if ask.criterion.of_responses:
        return {shown[name]: text for name, text in texts.items() if name == f"response-{ask.turn}"}
    if ask.criterion.of_turns:
        return {name: text for name, text in texts.items() if name == f"turn-{ask.turn}"}
    wanted = list_part_names(slot, ask.criterion.limits.get("where", ""))
    return {shown.get(name, name): text for name, text in texts.items() if name in wanted}


def list_part_names(slot: Assignment, where: str) -> list[str]:
    """Names of the turns of one side of the dialogue, of all its turns, or of the responses."""
    if slot.item.dialogue is None:
        return [f"response-{number}" for number in slot.sides.values()]
    role = ROLES.get(where)
    turns = enumerate(slot.item.dialogue.turns, start=1)
    return [f"turn-{number}" for number, turn in turns if role in (None, turn["role"])]


def to_stored(slot: Assignment, ask: Ask, answer: Answer) -> Answer:
    """The answer with responses by their numbers."""
    if ask.criterion.type == Criterion.Type.RANKING:
        return Answer(rename_ranked(answer.value, slot.sides))
    if isinstance(answer.content, list):
        return Answer(answer.value, rename_parts(answer.content, name_parts(slot.order)))
    if ask.criterion.type == Criterion.Type.REWRITE:
        return Answer(answer.value, {**answer.content, ask.criterion.part_noun: ask.turn})
    return answer


def to_given(slot: Assignment, label: Annotation, kind: str) -> str:
    """A stored answer as the page has it. `kind` is the type of its criterion."""
    shown = list_shown(slot.order)
    if kind == Criterion.Type.RANKING and label.value:
        return rename_ranked(label.value, shown)
    content = label.content
    if isinstance(content, list):
        content = rename_parts(content, {f"response-{number}": side for number, side in shown.items()})
    return spell_answer(Answer(label.value, content))


def rename_ranked(ranking: str, names: Mapping[str, str]) -> str:
    renamed = (tuple(sorted(names.get(name, name) for name in group)) for group in parse_ranking(ranking))
    return spell_ranking(tuple(renamed))


def rename_parts(spans: list[StoredSpan], names: Mapping[str, str]) -> list[StoredSpan]:
    renamed: list[StoredSpan] = [{**one, "part": names.get(one["part"], one["part"])} for one in spans]
    return sorted(renamed, key=lambda one: (len(one["part"]), one["part"])) if names else renamed


def spell_quotes(given: str, asked: AnswerFormat) -> str:
    """Spans as lines that a person writes: category | where | words. Empty for what is not a list of spans."""
    try:
        spans = json.loads(given or "[]")
        return "\n".join(spell_quote(one, asked) for one in spans)
    except (ValueError, TypeError, KeyError):
        return ""


def spell_quote(span: Mapping[str, Any], asked: AnswerFormat) -> str:
    what = f"{span['category']}/{span['severity']}" if span.get("severity") else str(span["category"])
    if "quote" in span:
        return f"{what} | {span.get('part') or ''} | {span['quote']}"
    words = asked.texts[span["part"]][span["start"] : span["end"]]
    return f"{what} | {span['part']}@{span['start']} | {words}"
