"""Rewrites as training data: the rewrite chosen over what it mends, and conversations that end with the rewrite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from core.files.writing import Member

KEY, TITLE = "rewrites", "Rewrites as training data"
BATCH = 500

Message = dict[str, str]


def has_rewrites(study: Study) -> bool:
    return study.criteria.filter(type=Criterion.Type.REWRITE).exists()


def members(study: Study) -> Iterator[Member]:
    """preferences.jsonl and sft.jsonl, a line for each rewrite by an annotator who is not excluded."""
    yield "preferences.jsonl", (to_line(to_preference(one)) for one in iterate_rewrites(study))
    yield "sft.jsonl", (to_line(to_conversation(one)) for one in iterate_rewrites(study))


def to_line(row: Mapping[str, object]) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def iterate_rewrites(study: Study) -> Iterator[Annotation]:
    given = Annotation.objects.only_counting().filter(
        assignment__study=study, criterion__type=Criterion.Type.REWRITE, content__isnull=False
    )
    texts = ("assignment__item__dialogue", "assignment__item__pair", "assignment__annotator", "criterion")
    ordered = given.select_related(*texts).order_by(
        "assignment__item__position", "criterion__position", "turn", "assignment__annotator__username"
    )
    return ordered.iterator(chunk_size=BATCH)


def to_preference(one: Annotation) -> dict[str, object]:
    """The conversation so far, and the two answers to it."""
    rewrite = {"role": role_of(one), "content": text_of(one)}
    original = {"role": role_of(one), "content": original_of(one)}
    return {"prompt": prompt_of(one), "chosen": [rewrite], "rejected": [original], **facts_of(one)}


def to_conversation(one: Annotation) -> dict[str, object]:
    messages = [*prompt_of(one), {"role": role_of(one), "content": text_of(one)}]
    return {"messages": messages, **facts_of(one)}


def text_of(one: Annotation) -> str:
    """What it was rewritten to."""
    return str((one.content or {})["text"])


def prompt_of(one: Annotation) -> list[Message]:
    """What was said before the text that was rewritten."""
    item = one.assignment.item
    if item.dialogue is not None:
        return [{"role": turn["role"], "content": turn["content"]} for turn in item.dialogue.turns[: one.turn - 1]]
    if item.pair is None:  # the database promises one of the two
        raise ValueError(f"item {item.pk} is about nothing")
    asked = "\n\n".join(filter(None, [item.pair.context, item.pair.question]))
    return [{"role": "user", "content": asked}]


def role_of(one: Annotation) -> str:
    dialogue = one.assignment.item.dialogue
    return str(dialogue.turns[one.turn - 1]["role"]) if dialogue is not None else "assistant"


def original_of(one: Annotation) -> str:
    item = one.assignment.item
    if item.dialogue is not None:
        return str(item.dialogue.turns[one.turn - 1]["content"])
    if item.pair is None:  # the database promises one of the two
        raise ValueError(f"item {item.pk} is about nothing")
    return str(item.pair.responses[one.turn - 1].text)


def facts_of(one: Annotation) -> dict[str, object]:
    """Where it comes from."""
    item = one.assignment.item
    about = "turn" if item.dialogue is not None else "response"
    who = one.assignment.annotator
    return {
        "item": item.external_id,
        "source": item.subject.source,
        about: one.turn,
        "criterion": one.criterion.key,
        "annotator": who.username if who else "",
    }
