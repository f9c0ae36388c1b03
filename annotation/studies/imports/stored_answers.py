"""Answers of every type as files hold them: checked against what the criterion takes, and the texts of the item."""

from __future__ import annotations

import math
from collections.abc import Mapping

from annotation.corpus.parsing.responses import gather
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import Answer, AnswerFormat, parse_answer, spell_answer
from core.errors import InputError

Texts = Mapping[str, str]
"""The parts of an item by their names: turn-1, response-1, …."""

OF_TEXTS = (Criterion.Type.SPANS, Criterion.Type.TEXT, Criterion.Type.REWRITE)


def read_stored(criterion: Criterion, value: str, content: object, *, texts: Texts, turn: int = 0) -> Answer:
    """The answer that a file holds. InputError for one that nobody could have given.

    Without content a text is its own value, and no span is the value 0.
    """
    if criterion.type == Criterion.Type.CHOICE:
        return Answer(match_scale(criterion, value))
    if criterion.type == Criterion.Type.NUMBER and not criterion.limits:
        return parse_answer(AnswerFormat("number"), value)
    asked = AnswerFormat(
        type="text" if criterion.type == Criterion.Type.REWRITE else criterion.type,
        values=criterion.values,
        limits=criterion.limits,
        responses=[name.removeprefix("response-") for name in texts if name.startswith("response-")],
        texts=choose_texts(criterion, texts, turn),
    )
    found = parse_answer(asked, spell_given(criterion, value, content))
    if criterion.type == Criterion.Type.REWRITE:
        return Answer(found.value, {**found.content, criterion.part_noun: turn})
    return found


def spell_given(criterion: Criterion, value: str, content: object) -> str:
    if criterion.type not in OF_TEXTS:
        return value
    if content is None:
        if criterion.type == Criterion.Type.SPANS and value != "0":
            raise InputError("the spans of {name} are missing: they stand in the column content", name=criterion.name)
        return "[]" if criterion.type == Criterion.Type.SPANS else value
    is_fitting = isinstance(content, list if criterion.type == Criterion.Type.SPANS else dict)
    if not is_fitting or (isinstance(content, dict) and not isinstance(content.get("text"), str)):
        raise InputError(
            "the content of {name} is not that of a {type}",
            name=criterion.name,
            type=criterion.get_type_display(),
        )
    if isinstance(content, list) and not all(isinstance(one, dict) for one in content):
        raise InputError("the content of {name} is a list of spans", name=criterion.name)
    return spell_answer(Answer(value, content))


def choose_texts(criterion: Criterion, texts: Texts, turn: int) -> dict[str, str]:
    """Those that the criterion is about."""
    if criterion.of_responses or criterion.of_turns:
        name = f"{criterion.part_noun}-{turn}"
        return {name: texts[name]} if name in texts else {}
    return {name: text for name, text in texts.items() if name.startswith(("turn-", "response-"))}


def list_record_texts(record: Mapping[str, object]) -> Texts:
    """The parts of a record as Concord's own JSONL has it."""
    given = gather(dict(record))
    if "turns" in given:
        found = {f"turn-{number}": str(turn["content"]) for number, turn in enumerate(given["turns"], start=1)}
    else:
        texts = [given["response_1"], given["response_2"], *(one["text"] for one in given.get("further", ()))]
        there = texts[: given.get("n_responses", 2)]
        found = {f"response-{number}": str(text) for number, text in enumerate(there, start=1)}
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in found.items()}


def match_scale(criterion: Criterion, given: str) -> str:
    """The value as the scale spells it: given as such, as its label, or as an equal number."""
    for category in criterion.categories:
        value = str(category["value"])
        if given.casefold() in (value.casefold(), str(category["label"]).casefold()) or is_same_number(given, value):
            return value
    if not criterion.categories and parse_number(given) is not None:
        return given
    scale = ", ".join(criterion.values) or "any number"
    raise InputError("{given!r} is not on the scale of {name} ({scale})", given=given, name=criterion.name, scale=scale)


def is_same_number(one: str, other: str) -> bool:
    first = parse_number(one)
    return first is not None and first == parse_number(other)


def parse_number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
