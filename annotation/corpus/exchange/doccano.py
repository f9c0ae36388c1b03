"""doccano: texts with labels as JSONL. A label is `criterion: value`; one line is what one rater said of one item.

doccano keeps columns that it does not know as metadata: in `concord` stands what else Concord knows. Its own export is
one file an annotator, called as they are; lines without `annotator` are by whom the file is called after.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from annotation.corpus.exchange.dataset import (
    META,
    ExchangedAnswer,
    Items,
    Naming,
    Package,
    Rated,
    Scale,
    StudyHead,
    to_key,
)
from annotation.corpus.exchange.reading import collect_package
from annotation.corpus.formats.base import Row
from annotation.corpus.parsing.messages import render_dialogue
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.tables.reading import read_json_lines

BETWEEN = ": "
ANY = "label"
"""The criterion of labels that name none."""


def lines(head: StudyHead, items: Items) -> Iterator[str]:
    """A line for each rater of each item; one without labels for an item that nobody rated."""
    for item in items():
        by: dict[str, list[ExchangedAnswer]] = defaultdict(list)
        for answer in item.answers:
            by[answer.rater].append(answer)
        for rater, answers in by.items() or [("", [])]:
            yield json.dumps(line(head, item, rater, answers), ensure_ascii=False) + "\n"


def line(head: StudyHead, item: Rated, rater: str, answers: list[ExchangedAnswer]) -> dict[str, object]:
    shown = [answer for answer in answers if answer.value and not answer.turn and answer.content is None]
    labels = [f"{one.criterion}{BETWEEN}{value}" for one in shown for value in values(head, one)]
    return {
        "id": str(item.record["id"]),
        "text": render_text(item),
        "label": labels,
        "annotator": rater,
        META: item.to_document(answers),
    }


def values(head: StudyHead, answer: ExchangedAnswer) -> list[str]:
    """Of several categories each is a label of its own."""
    return answer.categories if head.scale(answer.criterion).type == "several" else [answer.value]


def render_text(item: Rated) -> str:
    """What doccano shows: it knows neither turns nor pairs."""
    record = item.record
    if "turns" in record:
        return render_dialogue(record["turns"])
    parts = [record["question"], record.get("context", ""), record["response_1"], record["response_2"]]
    return "\n\n---\n\n".join(filter(None, parts))


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """Lines as doccano exports them. InputError names the file and the line."""
    rater = PurePath(file.name).stem
    return collect_package(
        file, problems, read_json_lines(file, problems), lambda one, _: parse_rated(one, rater, naming), known
    )


def parse_rated(given: Row, rater: str, naming: Naming) -> Rated:
    """An item with one rater's answers. A text without turns is one turn of the user."""
    ours = given.get(META)
    if ours is not None:
        return Rated.from_document(ours)
    text = naming.find_value("dialogue", given, ("text", "data"))
    if not isinstance(text, str) or not text:
        raise InputError("has no text", field="text")
    who = str(given.get("annotator") or rater)
    answers = [answer(one, who, naming) for one in given.get("label") or given.get("labels") or ()]
    rest = {name: value for name, value in given.items() if name not in ("text", "label", "labels", "annotator")}
    identity = naming.find_id(given, text[:100].strip())
    return Rated({**rest, "id": identity, "turns": [{"role": "user", "content": text}]}, tuple(answers))


def answer(label: object, rater: str, naming: Naming) -> ExchangedAnswer:
    """`criterion: value`, or a value alone."""
    if not isinstance(label, str):
        raise InputError("marks words of the text; Concord takes labels of whole items", field="label")
    criterion, between, value = label.partition(BETWEEN)
    key, value = (to_key(criterion), value) if between else (ANY, label)
    return ExchangedAnswer(rater=rater, criterion=key, value=value, of_judge=rater in naming.judges)
