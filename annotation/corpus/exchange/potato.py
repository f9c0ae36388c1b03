"""Potato: instances, what people said of them (JSONL, or a file of state for each person), and judges' labels.

A preference is stored as the side on the screen, A or B. Where Potato had them swapped, only `presentation_order` tells
which response that was: a file without it is refused, unless somebody states that sides were never swapped.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from annotation.corpus.exchange.dataset import (
    META,
    SIDES,
    ExchangedAnswer,
    Items,
    Naming,
    Package,
    Rated,
    Scale,
    StudyHead,
    spell_value,
    to_key,
    to_named_response,
    to_shown_side,
)
from annotation.corpus.exchange.reading import Given, collect_package, json_list, locate_error
from annotation.corpus.formats.base import Row
from annotation.corpus.parsing.messages import render_dialogue, to_turns
from core.errors import InputError
from core.files.input_files import InputFile, Problems, parse_document, read_document
from core.files.tables.reading import read_json_lines

STATE = "user_state.json"
OF_JUDGES = "llm_labels"
SELECTION = "selection"
MOST_FILES = 10_000


# ---------- writing ----------


def instances(head: StudyHead, items: Items) -> Iterator[str]:
    """data.jsonl: what annotators see, and the record as Concord has it."""
    for item in items():
        record = item.record
        seen: dict[str, object] = {}
        if head.kind == "dialogue":
            seen["conversation"] = [{"speaker": turn["role"], "text": turn["content"]} for turn in record["turns"]]
        else:
            seen["responses"] = [record["response_1"], record["response_2"]]
        text = render_dialogue(record["turns"]) if head.kind == "dialogue" else record["question"]
        kept = {"record": record, "facts": item.facts}
        yield json.dumps({"id": str(record["id"]), "text": text, **seen, META: kept}, ensure_ascii=False) + "\n"


def iterate_annotation_lines(head: StudyHead, items: Items) -> Iterator[str]:
    """annotations.jsonl: a line for each person and item, as Potato writes it, with the order of the responses."""
    for item in items():
        by: dict[str, list[ExchangedAnswer]] = defaultdict(list)
        for answer in item.answers:
            if not answer.of_judge:
                by[answer.rater].append(answer)
        for rater, answers in by.items():
            labels = {one.question: label(head, one) for one in answers if one.value}
            orders = {one.question: [1, 0] if one.order == "BA" else [0, 1] for one in answers if is_choice(head, one)}
            row: dict[str, object] = {
                "instance_id": str(item.record["id"]),
                "user_id": rater,
                "labels": labels,
                "spans": {},
            }
            kept = {"presentation_order": orders, META: [one.to_extras() for one in answers]}
            yield json.dumps({**row, **kept}, ensure_ascii=False) + "\n"


def iterate_judgment_lines(head: StudyHead, items: Items) -> Iterator[str]:  # noqa: ARG001
    """llm_labels.jsonl: a line for each judgment."""
    for item in items():
        for answer in item.answers:
            if answer.of_judge:
                row = {"instance_id": str(item.record["id"]), "schema": answer.question, "model": answer.rater}
                said = {"modal_label": answer.value or None, META: answer.to_extras()}
                yield json.dumps({**row, **said}, ensure_ascii=False) + "\n"


def is_choice(head: StudyHead, answer: ExchangedAnswer) -> bool:
    return bool(answer.value) and head.scale(answer.criterion).chooses_response


def label(head: StudyHead, answer: ExchangedAnswer) -> dict[str, str]:
    """Of a preference the side on the screen, else the label with itself as its value."""
    if is_choice(head, answer):
        return {SELECTION: to_shown_side(answer.value, answer.order)}
    if isinstance(answer.content, dict):
        return {"text_box": answer.content["text"]}
    if head.scale(answer.criterion).type == "several":
        return {value: value for value in answer.categories}
    return {answer.value: answer.value}


# ---------- reading ----------


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """A folder of Potato's: its data files and all annotations below it. InputError names file and line."""
    if not file.path.is_dir():
        raise file.error("a folder is expected: with the data files and the annotations of a Potato project")
    answers: dict[str, list[ExchangedAnswer]] = defaultdict(list)
    records: list[Given] = []
    for path in list_json_files(file):
        part = InputFile.from_path(path)
        for place, row in rows(part, problems):
            where = f"{path.name}, line {place}" if isinstance(place, int) else f"{path.name}, {place}"
            try:
                take(row, path.name, naming, answers, records, where)
            except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
                problems.add(locate_error(part, place, error), json.dumps(row, ensure_ascii=False))
    known_ids = {naming.find_id(row) for _, row in records}
    for name in answers.keys() - known_ids:
        problems.add(file.error("annotations name {name!r}, which no data file holds", field="instance_id", name=name))
    return collect_package(file, problems, records, lambda one, _: parse_rated(one, naming, answers), known)


def list_json_files(file: InputFile) -> list[Path]:
    """The files of JSON below the folder, in order of their names."""
    paths = sorted(path for path in file.path.rglob("*.json*") if path.suffix in (".json", ".jsonl"))
    if len(paths) > MOST_FILES:
        raise file.error("holds {n} files of JSON, more than {most}", n=len(paths), most=MOST_FILES)
    return paths


def rows(file: InputFile, problems: Problems) -> Iterable[Given]:
    if file.path.name == STATE:
        return [("state", parse_document(file, read_document(file)))]
    return read_json_lines(file, problems) if file.path.suffix == ".jsonl" else json_list(file, "instances")


def take(
    row: object, name: str, naming: Naming, answers: dict[str, list[ExchangedAnswer]], records: list[Given], place: str
) -> None:
    """A row is an instance, what somebody said of one, what they said of all, or what a judge said."""
    if not isinstance(row, dict):
        raise InputError("a JSON object is expected")
    if name == STATE:
        for identity, given in row["instance_id_to_label_to_value"].items():
            orders = (row.get("instance_id_to_presentation_order") or {}).get(identity) or {}
            labels = group_by_schema(given)
            answers[identity] += parse_answers(labels, orders, str(row["user_id"]), naming)
    elif "instance_id" not in row:
        records.append((place, row))
    elif META in row:
        kept = [row[META]] if name.startswith(OF_JUDGES) else row[META]
        answers[spell_value(row["instance_id"])] += [ExchangedAnswer.from_extras(one) for one in kept]
    elif name.startswith(OF_JUDGES):
        answers[spell_value(row["instance_id"])].append(verdict(row))
    else:
        orders = row.get("presentation_order") or {}
        answers[spell_value(row["instance_id"])] += parse_answers(row["labels"], orders, str(row["user_id"]), naming)


def group_by_schema(given: Iterable[tuple[Mapping[str, str], object]]) -> dict[str, dict[str, object]]:
    """The state's pairs of label and value as the labels of a line."""
    labels: dict[str, dict[str, object]] = defaultdict(dict)
    for about, value in given:
        labels[about["schema"]][about["name"]] = value
    return labels


def parse_answers(
    labels: Mapping[str, Mapping[str, object]], orders: Mapping[str, Sequence[int]], rater: str, naming: Naming
) -> list[ExchangedAnswer]:
    """Somebody's answers; free texts are no labels."""
    found = []
    for name, given in labels.items():
        chosen = [key for key in given if key not in ("text_box", SELECTION)]
        if SELECTION in given:
            order = side_order(name, orders, naming)
            value = to_named_response(spell_value(given[SELECTION]), order)
        elif chosen:
            if len(chosen) > 1:
                raise InputError("{n_chosen} labels where one is expected", field=name, n_chosen=len(chosen))
            order, value = "", spell_value(chosen[0])
        else:
            continue
        told = {"rater": rater, "criterion": to_key(name), "of_judge": rater in naming.judges}
        found.append(ExchangedAnswer.from_extras({"value": value, "order": order}, **told))
    return found


def side_order(name: str, orders: Mapping[str, Sequence[int]], naming: Naming) -> str:
    """AB or BA; refused where nobody knows."""
    given = orders.get(name)
    if given is not None:
        return "AB" if list(given) == [0, 1] else "BA"
    if naming.fixed_order:
        return "AB"
    raise InputError(
        "says which side of the screen was chosen ({sides}), not which response, for there is no "
        "presentation_order. If randomize_order was off, say so with --fixed-order",
        field=name,
        sides=" or ".join(SIDES),
    )


def verdict(row: Mapping[str, object]) -> ExchangedAnswer:
    """A judge's label: the one that it gave most often."""
    value = row.get("modal_label")
    given = {"value": spell_value(value)} if value is not None else {"reason": "no label"}
    judge, criterion = str(row.get("model") or "llm"), to_key(row.get("schema") or "label")
    return ExchangedAnswer.from_extras(given, rater=judge, criterion=criterion, of_judge=True)


def parse_rated(row: Row, naming: Naming, answers: Mapping[str, list[ExchangedAnswer]]) -> Rated:
    """An instance with all that was said of it."""
    identity = naming.find_id(row)
    said_of_it = tuple(answers.get(identity, ()))
    if META in row:
        return Rated(row[META]["record"], said_of_it, row[META]["facts"])
    rest = {name: value for name, value in row.items() if name not in ("text", "conversation", "responses")}
    talk, responses = naming.find_value("dialogue", row, ("conversation",)), row.get("responses")
    if isinstance(responses, list) and len(responses) == 2:
        question = naming.find_value("question", row, ("text", "prompt")) or "(no question)"
        pair = {"question": question, "response_1": responses[0], "response_2": responses[1]}
        return Rated({**rest, "id": identity, **pair}, said_of_it)
    turns = to_turns(talk) if talk is not None else [{"role": "user", "content": row["text"]}]
    return Rated({**rest, "id": identity, "turns": turns}, said_of_it)
