"""Label Studio: tasks with people's annotations and judges' predictions as JSON, and the labelling configuration.

Ratings of 1 to n are stars, other scales choices, a preference is pairwise: left is response 1, whatever side it was
shown on. Label Studio knows no tie; one is a choice `tie` in a control of its own. Marked spans are a count, and
regions beside it. Any other type of answer is a text area. What else Concord knows of an answer stands in its `meta`,
which Label Studio keeps as it is; of all but choices and numbers that is the whole answer, and what is read back.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as Xml

from annotation.corpus.exchange.dataset import (
    META,
    TIE,
    ExchangedAnswer,
    Items,
    Naming,
    Package,
    Rated,
    Scale,
    StudyHead,
    build_categories,
    spell_value,
    to_key,
    write_list,
)
from annotation.corpus.exchange.reading import collect_package, json_list
from annotation.corpus.parsing.messages import to_turns
from core.errors import InputError
from core.files.input_files import InputFile, Problems

UNSCORED, TIED = "-unscored", "-tie"
NUMBERS = ("choice", "number")
"""Types of answer that are a number where they have no categories."""
IN_RESULT = ("criterion", "value", "reason", "of_judge", "note")
"""Of an answer, what the result itself says."""
TEXTS = {"dialogue": ("dialogue", "chat", "conversation", "messages"), "response_1": (), "response_2": ()}


# ---------- writing ----------


def tasks(head: StudyHead, items: Items) -> Iterator[str]:
    """A JSON list, one task on each line."""
    raters: dict[str, int] = {}
    return write_list(task(head, item, place, raters) for place, item in enumerate(items(), start=1))


def task(head: StudyHead, item: Rated, place: int, raters: dict[str, int]) -> dict[str, object]:
    """The item; people's answers are annotations, judges' predictions. `raters` numbers the people."""
    by: dict[tuple[str, bool, int, str], list[ExchangedAnswer]] = defaultdict(list)
    for answer in item.answers:
        by[answer.rater, answer.of_judge, answer.repeat, answer.order].append(answer)
    annotations, predictions = [], []
    for (rater, of_judge, _, _), answers in by.items():
        found = [one for answer in answers for one in results(head, head.scale(answer.criterion), answer)]
        if of_judge:
            predictions.append({"model_version": rater, "result": found})
        else:
            annotations.append(
                {
                    "completed_by": raters.setdefault(rater, len(raters) + 1),
                    "was_cancelled": all(answer.reason for answer in answers),
                    "ground_truth": False,
                    "lead_time": answers[0].active_seconds,
                    "result": found,
                }
            )
    data = (
        {**item.record, "dialogue": to_paragraphs(item.record["turns"])}
        if head.kind == "dialogue"
        else dict(item.record)
    )
    data.pop("turns", None)
    facts = {META: dict(item.facts)}
    return {"id": place, "data": data, "meta": facts, "annotations": annotations, "predictions": predictions}


def to_paragraphs(turns: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Turns as the Paragraphs tag of the configuration reads them."""
    return [{**turn, "author": turn["role"], "text": turn["content"]} for turn in turns]


PART = "concord_part"
"""Marks a result that belongs to an answer which another one of the task carries."""


def results(head: StudyHead, scale: Scale, answer: ExchangedAnswer) -> list[dict[str, object]]:
    """The answer; marked spans beside it as regions, so that they are seen in the text."""
    spans = answer.content if isinstance(answer.content, list) else []
    return [result(scale, answer), *(region(head, scale, span, place) for place, span in enumerate(spans, start=1))]


def region(head: StudyHead, scale: Scale, span: Mapping[str, object], place: int) -> dict[str, object]:
    """One span where Label Studio shows it: in a paragraph of the dialogue, or in a response."""
    start, end, labels = span["start"], span["end"], [span["category"]]
    name = f"{scale.key}-{place}"
    if head.kind == "dialogue":
        turn = str(int(str(span["part"]).removeprefix("turn-")) - 1)
        value = {"start": turn, "end": turn, "startOffset": start, "endOffset": end, "text": span["text"]}
        shown: dict[str, object] = {
            "to_name": "item",
            "type": "paragraphlabels",
            "value": {**value, "paragraphlabels": labels},
        }
    else:
        value = {"start": start, "end": end, "text": span["text"], "labels": labels}
        shown = {"to_name": str(span["part"]).replace("-", "_"), "type": "labels", "value": value}
    return {"id": name, "from_name": f"{scale.key}-words", **shown, "meta": {PART: scale.key}}


def result(scale: Scale, answer: ExchangedAnswer) -> dict[str, object]:
    """One control's result."""
    name, kind, value = build_control(scale, answer)
    told = IN_RESULT if scale.type in NUMBERS or answer.reason else ()
    meta: dict[str, object] = {META: answer.to_extras(*told)}
    if answer.note:
        meta["text"] = [answer.note]
    return {
        "id": "-".join(filter(None, [scale.key, str(answer.turn or "")])),
        "from_name": name,
        "to_name": "response_1,response_2" if kind == "pairwise" else "item",
        "type": kind,
        "value": value,
        "meta": meta,
    }


def build_control(scale: Scale, answer: ExchangedAnswer) -> tuple[str, str, dict[str, object]]:
    """Name and type of the control, and its value."""
    if answer.reason:
        return scale.key + UNSCORED, "choices", {"choices": [answer.reason]}
    if scale.chooses_response:
        if answer.value == TIE:
            return scale.key + TIED, "choices", {"choices": [TIE]}
        return scale.key, "pairwise", {"selected": "left" if answer.value == "1" else "right"}
    if scale.type == "several":
        return scale.key, "choices", {"choices": answer.categories}
    if scale.type == "spans":
        return scale.key, "number", {"number": int(answer.value)}
    if scale.stars:
        return scale.key, "rating", {"rating": int(answer.value)}
    if scale.categories:
        return scale.key, "choices", {"choices": [answer.value]}
    if scale.type in NUMBERS:
        return scale.key, "number", {"number": float(answer.value)}
    return scale.key, "textarea", {"text": [spell_text(answer)]}


def spell_text(answer: ExchangedAnswer) -> str:
    """A text; any other answer as it is written."""
    return str(answer.content["text"]) if isinstance(answer.content, dict) else answer.value


def configuration(head: StudyHead, items: Items) -> Iterator[str]:  # noqa: ARG001
    """The labelling configuration (XML) that shows these tasks."""
    view = Xml.Element("View")
    if head.kind == "dialogue":
        shown = {"name": "item", "value": "$dialogue", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
        Xml.SubElement(view, "Paragraphs", shown)
    else:
        for name, target in (("item", "question"), ("response_1", "response_1"), ("response_2", "response_2")):
            Xml.SubElement(view, "Text", {"name": name, "value": f"${target}"})
    for scale in head.scales:
        Xml.SubElement(view, "Header", {"value": scale.question})
        view.extend(controls(scale, head.kind))
    Xml.indent(view)
    yield Xml.tostring(view, encoding="unicode") + "\n"


def controls(scale: Scale, kind: str) -> Iterator[Xml.Element]:
    """What a criterion is answered with."""
    if scale.type == "spans":
        yield Xml.Element("Number", {"name": scale.key, "toName": "item"})
        tag, target = ("ParagraphLabels", "item") if kind == "dialogue" else ("Labels", "response_1,response_2")
        labels = Xml.Element(tag, {"name": f"{scale.key}-words", "toName": target})
        for value in scale.values:
            Xml.SubElement(labels, "Label", {"value": value})
        yield labels
    elif scale.type == "several":
        found = choices(scale.key, scale.categories)
        found.set("choice", "multiple")
        yield found
    elif scale.chooses_response:
        yield Xml.Element("Pairwise", {"name": scale.key, "toName": "response_1,response_2"})
        if TIE in scale.values:
            yield choices(scale.key + TIED, build_categories([TIE]))
    elif scale.stars:
        yield Xml.Element("Rating", {"name": scale.key, "toName": "item", "maxRating": str(scale.stars)})
    elif scale.categories:
        yield choices(scale.key, scale.categories)
    else:
        control = "Number" if scale.type in NUMBERS else "TextArea"
        yield Xml.Element(control, {"name": scale.key, "toName": "item"})


def choices(name: str, categories: Iterable[Mapping[str, object]]) -> Xml.Element:
    found = Xml.Element("Choices", {"name": name, "toName": "item", "choice": "single"})
    for category in categories:
        Xml.SubElement(found, "Choice", {"value": str(category["value"]), "hint": str(category["label"])})
    return found


# ---------- reading ----------


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """Tasks as Label Studio exports them (JSON, not JSON-MIN). InputError names the file and the task."""
    given = json_list(file, "tasks, as Label Studio's JSON export has it")
    package = collect_package(file, problems, given, lambda one, place: parse_rated(one, naming, int(place)), known)
    return replace(package, notes=(*package.notes, *describe_left_out(task for _, task in given)))


def describe_left_out(tasks: Iterable[object]) -> Iterator[str]:
    """What of the results is no answer to a criterion: how many of each type, in words."""
    made = (one for task in tasks if isinstance(task, dict) for one in task.get("annotations") or [])
    results = (result for one in made if isinstance(one, dict) for result in one.get("result") or [])
    types = Counter(
        str(one.get("type")) for one in results if isinstance(one, dict) and not (is_answer(one) or is_part(one))
    )
    for kind, n in types.most_common():
        yield f"{n:,} {kind} result{'s were' if n > 1 else ' was'} left out: no criterion can be answered so"


def parse_rated(task: Mapping[str, Any], naming: Naming, place: int) -> Rated:
    """An item with its answers."""
    data = task["data"]
    record = parse_record(data, naming, spell_value(task.get("id", place + 1)))
    answers = []
    for annotation in task.get("annotations", []):
        if annotation.get("was_cancelled") and not any(is_ours(one) for one in annotation["result"]):
            continue
        rater = spell_value(person(annotation.get("completed_by", "unknown")))
        answers += [answer(one, rater, naming, annotation) for one in annotation["result"] if is_answer(one)]
    for prediction in task.get("predictions", []):
        judge = spell_value(prediction.get("model_version") or "prediction")
        found = [answer(one, judge, naming, {}) for one in prediction["result"] if is_answer(one)]
        answers += [replace(one, rater=judge, of_judge=True) for one in found]
    facts = (task.get("meta") or {}).get(META, {})
    return Rated(record, tuple(answers), facts)


def parse_record(data: Mapping[str, object], naming: Naming, number: str) -> dict[str, object]:
    """The dialogue or pair; data that Concord does not use is kept."""
    responses = [naming.find_value("response_1", data), naming.find_value("response_2", data)]
    turns = naming.find_value("dialogue", data, TEXTS["dialogue"])
    used = {naming.fields.get(name, name) for name in ("id", "dialogue", "question", "context", *TEXTS)}
    rest = {name: value for name, value in data.items() if name not in used | set(TEXTS["dialogue"])}
    identity = naming.find_id(data, number)
    if None not in responses:
        question = naming.find_value("question", data, ("prompt", "instruction")) or "(no question)"
        context = naming.find_value("context", data) or ""
        first, second = responses
        pair = {"id": identity, "question": question, "response_1": first, "response_2": second, **rest}
        return {**pair, "context": context} if context else pair
    if turns is None:
        raise InputError(
            "neither a dialogue nor two responses; the task's data has: {data}. Say which is which: --fields "
            "response_1=… response_2=…, or dialogue=…",
            field="data",
            data=", ".join(data),
        )
    return {"id": identity, "turns": to_turns(turns), **rest}


def person(completed_by: object) -> object:
    """Who: a number, or an account with its address."""
    return completed_by.get("email") or completed_by["id"] if isinstance(completed_by, dict) else completed_by


def read_meta(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return result.get("meta") or {}


def is_ours(result: Mapping[str, object]) -> bool:
    return META in read_meta(result)


def is_answer(result: Mapping[str, object]) -> bool:
    """Whether it answers a criterion: marked words and free texts do not, unless Concord wrote them as an answer."""
    return result.get("type") in ("rating", "choices", "pairwise", "number") or is_whole(result)


def is_whole(result: Mapping[str, object]) -> bool:
    """Whether Concord wrote the whole answer beside what Label Studio shows of it."""
    return "criterion" in (read_meta(result).get(META) or {})


def is_part(result: Mapping[str, object]) -> bool:
    return PART in read_meta(result)


def answer(result: Mapping[str, Any], rater: str, naming: Naming, annotation: Mapping[str, object]) -> ExchangedAnswer:
    """One result as an answer."""
    meta = read_meta(result)
    ours = dict(meta.get(META) or {})
    if is_whole(result):
        return ExchangedAnswer.from_extras(ours)
    name, value, reason = result["from_name"], parse_value(result), ""
    if ours and name.endswith(UNSCORED):
        name, value, reason = name.removesuffix(UNSCORED), "", value
    name = re.sub(f"{TIED}$", "", name) if value == TIE else name
    who = ours.get("rater", rater)
    told = {
        "rater": who,
        "criterion": to_key(name),
        "value": value,
        "reason": reason,
        "of_judge": who in naming.judges,
        "note": " ".join(meta.get("text") or []),
        "active_seconds": ours.get("active_seconds") or annotation.get("lead_time"),
    }
    return ExchangedAnswer.from_extras(ours, **told)


def parse_value(result: Mapping[str, Any]) -> str:
    """The value as a scale spells it. Of several choices, which no single answer can be, there is none."""
    value = result["value"]
    match result["type"]:
        case "rating":
            return spell_value(value["rating"])
        case "number":
            return spell_value(value["number"])
        case "pairwise":
            return {"left": "1", "right": "2"}[value["selected"]]
    chosen = value["choices"]
    if len(chosen) != 1:
        raise InputError(
            "{n_chosen} choices where one is expected", field=str(result.get("from_name")), n_chosen=len(chosen)
        )
    return spell_value(chosen[0])
