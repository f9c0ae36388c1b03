"""Argilla: records with people's responses and judges' suggestions, and the settings of their dataset.

A record holds one suggestion a question: the first judge's; further judges, and what else Concord knows of an answer,
stand in the record's metadata as JSON text under `concord`, which Argilla keeps. A question takes one answer of one
person, so that turns become questions of their own: coherence-turn-3.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.corpus.exchange.dataset import (
    META,
    ExchangedAnswer,
    Items,
    Naming,
    Package,
    Rated,
    Scale,
    StudyHead,
    parse_number,
    spell_value,
    to_key,
    write_list,
)
from annotation.corpus.exchange.reading import collect_package, json_list
from annotation.corpus.parsing.messages import render_dialogue, to_turns
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.json_text import parse_json

PEOPLE = uuid.UUID("0d2f6f1e-5a44-4d0e-9f43-6b1f6f4bb0c1")
"""Names of annotators are ids of users within this."""

# ---------- writing ----------


def records(head: StudyHead, items: Items) -> Iterator[str]:
    """A JSON list, one record on each line."""
    return write_list(record(head, item) for item in items())


def record(head: StudyHead, item: Rated) -> dict[str, object]:
    """One item. A response stands where somebody gave a value; answers without one are in the metadata alone."""
    responses: dict[str, list[dict[str, object]]] = defaultdict(list)
    suggestions: dict[str, dict[str, object]] = {}
    for answer in item.answers:
        if not answer.value:
            continue
        question, value = answer.question, to_typed_value(head.scale(answer.criterion), answer)
        if value is None:
            continue
        if answer.of_judge:
            suggestions.setdefault(question, {"value": value, "score": None, "agent": answer.rater})
        elif not any(one["user_id"] == build_user(answer.rater) for one in responses[question]):
            responses[question].append({"value": value, "user_id": build_user(answer.rater)})
    return {
        "id": str(item.record["id"]),
        "fields": build_shown_fields(head, item),
        "metadata": {META: json.dumps(item.to_document(item.answers), ensure_ascii=False)},
        "suggestions": suggestions,
        "responses": {question: given for question, given in responses.items() if given},
        "vectors": {},
        "status": "completed" if any(responses.values()) else "pending",
    }


def build_user(rater: str) -> str:
    return str(uuid.uuid5(PEOPLE, rater))


def to_typed_value(scale: Scale, answer: ExchangedAnswer) -> object:
    """A rating question takes whole numbers, a label question texts; None for what no question of Argilla's takes."""
    if scale.type == "several":
        return answer.categories
    if scale.type == "ranking":
        groups = enumerate((group.split("=") for group in answer.value.split(">")), start=1)
        return [{"value": f"response_{name}", "rank": rank} for rank, group in groups for name in group]
    if isinstance(answer.content, dict):
        return answer.content["text"]
    if isinstance(answer.content, list):
        return None
    return int(answer.value) if scale.stars else answer.value


def build_shown_fields(head: StudyHead, item: Rated) -> dict[str, object]:
    """What annotators read."""
    if head.kind == "dialogue":
        return {"chat": [{"role": turn["role"], "content": turn["content"]} for turn in item.record["turns"]]}
    return {name: item.record.get(name, "") for name in ("question", "context", "response_1", "response_2")}


def settings(head: StudyHead, items: Items) -> Iterator[str]:
    """The dataset's settings, with a question for each criterion, and for each turn that was rated."""
    asked: dict[str, Scale] = {
        scale.key: scale for scale in head.scales if scale.unit == "item" and scale.type != "spans"
    }
    for item in items():
        for answer in item.answers:
            if isinstance(answer.content, list):
                continue
            asked.setdefault(answer.question, head.scale(answer.criterion))
    names = ["chat"] if head.kind == "dialogue" else ["question", "context", "response_1", "response_2"]
    kind = "chat" if head.kind == "dialogue" else "text"
    document = {
        "guidelines": head.description or None,
        "allow_extra_metadata": True,
        "fields": [
            {"name": name, "title": name, "required": name != "context", "settings": {"type": kind}} for name in names
        ],
        "questions": [question(name, scale) for name, scale in asked.items()],
        "metadata": [],
        "vectors": [],
    }
    yield json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def question(name: str, scale: Scale) -> dict[str, object]:
    if scale.type == "ranking":
        names = [{"value": f"response_{name}", "text": f"Response {name}"} for name in ("1", "2")]
        asked: dict[str, object] = {"type": "ranking", "options": names}
    elif scale.stars:
        asked = {"type": "rating", "options": [{"value": step + 1} for step in range(scale.stars)]}
    elif scale.categories:
        options = [{"value": str(one["value"]), "text": str(one["label"])} for one in scale.categories]
        several = scale.type == "several"
        asked = {"type": "multi_label_selection" if several else "label_selection", "options": options}
    else:
        asked = {"type": "text"}
    return {"name": name, "title": scale.question, "description": scale.guideline, "required": False, "settings": asked}


# ---------- reading ----------


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """Records as Argilla writes them (`records.to_json`). InputError names the file and the record."""
    given = json_list(file, "records, as Argilla writes them")
    return collect_package(file, problems, given, lambda one, _: parse_rated(one, naming), known)


def parse_rated(given: Mapping[str, Any], naming: Naming) -> Rated:
    """An item with its answers: Concord's own from the metadata, others from responses and suggestions."""
    ours = (given.get("metadata") or {}).get(META)
    if ours is not None:
        return Rated.from_document(parse_json(ours))
    answers = [
        ExchangedAnswer(
            rater=str(one["user_id"]),
            criterion=to_key(name),
            value=spell_value(single(one["value"], name)),
            of_judge=str(one["user_id"]) in naming.judges,
        )
        for name, responses in (given.get("responses") or {}).items()
        for one in responses
        if one.get("value") is not None and not is_text(one["value"])
    ]
    answers += [
        ExchangedAnswer(
            rater=str(one.get("agent") or "suggestion"),
            criterion=to_key(name),
            value=spell_value(single(one["value"], name)),
            of_judge=True,
        )
        for name, one in (given.get("suggestions") or {}).items()
        if one and one.get("value") is not None and not is_text(one["value"])
    ]
    rest = {name: value for name, value in (given.get("metadata") or {}).items() if value is not None}
    identity = Naming().find_id(given, naming.find_id(rest))
    return Rated({**rest, "id": identity, **parse_record(given["fields"], naming)}, tuple(answers), {})


def single(value: object, name: str) -> object:
    """The value itself; of a ranking or several labels, which no single answer can be, there is none."""
    if isinstance(value, list | dict):
        raise InputError("{name} is a question with several answers at once, which is not read", field=name, name=name)
    return value


def is_text(value: object) -> bool:
    """Whether it looks like the answer to a text question, which is no label."""
    return isinstance(value, str) and len(value) > 64 and parse_number(value) is None


def parse_record(fields: Mapping[str, object], naming: Naming) -> dict[str, object]:
    """The dialogue or pair in the record's fields."""
    chat = naming.find_value("dialogue", fields, ("chat", "messages", "conversation"))
    if isinstance(chat, list):
        return {"turns": to_turns(chat)}
    responses = [
        naming.find_value(name, fields, (usual,)) for name, usual in (("response_1", "a"), ("response_2", "b"))
    ]
    if None in responses:
        raise InputError(
            "neither a chat nor two responses; the record's fields are: {fields}. Say which is which: --fields "
            "response_1=… response_2=…, or dialogue=…",
            field="fields",
            fields=", ".join(fields),
        )
    asked = naming.find_value("question", fields, ("prompt", "instruction"))
    question = render_dialogue(to_turns(asked)) if isinstance(asked, list) else asked
    both = dict(zip(("response_1", "response_2"), responses, strict=True))
    context = naming.find_value("context", fields)
    return {"question": question or "(no question)", **both, **({"context": context} if context else {})}
