"""What the readers of other tools' formats share: records one by one, and what is wrong with one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from annotation.corpus.exchange.dataset import (
    TIE,
    ExchangedAnswer,
    Kind,
    Package,
    Rated,
    Scale,
    StudyHead,
    add_scales,
    preference,
)
from annotation.corpus.parsing.records import DialogueRecord, PairRecord
from core.errors import InputError
from core.files.input_files import InputFile, Problems, find_first_problem, parse_document, read_document
from core.files.json_text import refuse_unstorable

ANSWERS = TypeAdapter(tuple[ExchangedAnswer, ...])
HEAD = TypeAdapter(StudyHead)
Place = int | str
"""Where a record stands in the file: the number of its line, or its place in words."""

Given = tuple[Place, Any]
One = TypeVar("One")


def json_list(file: InputFile, of: str) -> list[Given]:
    """The objects of a document that is a JSON list."""
    document = parse_document(file, read_document(file))
    if not isinstance(document, list):
        raise file.error("a JSON list of {of} is expected", of=of)
    return [(str(place), one) for place, one in enumerate(document)]


def collect_package(
    file: InputFile,
    problems: Problems,
    given: Iterable[tuple[Place, One]],
    rated: Callable[[One, Place], Rated],
    known: Mapping[str, Scale],
) -> Package:
    """The package of all records that can be read; the others go to the problems."""
    items: dict[str, Rated] = {}
    for place, one in given:
        try:
            take(items, check_rated(rated(one, place)))
        except (InputError, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
            problems.add(locate_error(file, place, error), json.dumps(one, ensure_ascii=False, default=str))
    if not items:
        raise file.error("holds nothing that could be read")
    return build_package(file, list(items.values()), known)


def check_rated(item: Rated) -> Rated:
    """The item, with what a database can store and Concord understands. Raises InputError for all else."""
    schema: type[PairRecord | DialogueRecord] = PairRecord if is_pair(item) else DialogueRecord
    try:
        read = schema.model_validate(dict(item.record))
        answers = ANSWERS.validate_python([one.to_extras() for one in item.answers])
    except ValidationError as error:
        path, message = find_first_problem(error)
        raise InputError(message, field=".".join(map(str, path)) or None) from error
    for part in ([dict(item.record), dict(item.facts)], [one.to_extras() for one in answers]):
        refuse_unstorable(part, lambda path, why: InputError(why, field=".".join(map(str, path))))
    last, what = (read.n_responses, "response") if isinstance(read, PairRecord) else (len(read.turns), "turn")
    for answer in answers:
        if answer.turn > last:
            raise InputError("the item has no {what} {turn}", field="turn", what=what, turn=answer.turn)
        if bool(answer.value) == bool(answer.reason):
            raise InputError("an answer has a value or a reason why there is none", field=answer.criterion)
    return Rated(item.record, answers, item.facts)


def locate_error(file: InputFile, place: Place, error: Exception) -> InputError:
    """What is wrong with a record, and which one it is."""
    line, words = (place, None) if isinstance(place, int) else (None, place)
    if isinstance(error, InputError):
        named = ": ".join(part for part in (words, error.field) if part)
        return file.error(error.message, line=line, field=named or None)
    if isinstance(error, KeyError):
        return file.error("has no {name!r}", line=line, field=words, name=error.args[0])
    if isinstance(error, ValueError):  # the others speak of Python
        return file.error("is not spelt as this format is: {error}", line=line, field=words, error=error)
    return file.error("is not spelt as this format is", line=line, field=words)


def is_pair(item: Rated) -> bool:
    return "response_1" in item.record or "responses" in item.record


def take(items: dict[str, Rated], item: Rated) -> None:
    """Add the item; answers of records with the same id are put together. Raises InputError for one given twice."""
    identity = str(item.record["id"])
    first = items.get(identity)
    said = set()
    for answer in (*(first.answers if first else ()), *item.answers):
        shown = (answer.order, answer.repeat) if answer.of_judge else ()
        key = (answer.rater, answer.of_judge, answer.criterion, answer.turn, *shown)
        if key in said:
            raise InputError(
                "{rater} answers it twice for {identity}", field=answer.criterion, rater=answer.rater, identity=identity
            )
        said.add(key)
    items[identity] = Rated(first.record, first.answers + item.answers, first.facts) if first else item


def build_package(file: InputFile, items: list[Rated], known: Mapping[str, Scale]) -> Package:
    """With the scales that the answers need. A criterion of pairs with the values 1, 2 and tie is a preference."""
    kinds = {is_pair(item) for item in items}
    if len(kinds) > 1:
        raise file.error("holds dialogues and pairs; import them as two studies")
    kind: Kind = "pair" if kinds == {True} else "dialogue"
    told = find_study_head(items)
    if told is not None:
        return Package(add_scales(told, items, known=known), tuple(items))
    values: dict[str, set[str]] = {}
    for item in items:
        for answer in item.answers:
            values.setdefault(answer.criterion, set()).add(answer.value)
    compared = tuple(
        preference(key, tie=TIE in seen)
        for key, seen in values.items()
        if kind == "pair" and seen - {""} and seen <= {"", "1", "2", TIE} and key not in known
    )
    head = add_scales(StudyHead(file.name, kind, compared), items, known=known)
    return Package(head, tuple(items))


def find_study_head(items: Iterable[Rated]) -> StudyHead | None:
    """The study as Concord wrote it down with the first item; None in files from elsewhere."""
    given = next((item.facts["study"] for item in items if "study" in item.facts), None)
    if given is None:
        return None
    try:
        head = HEAD.validate_python(given)
    except ValidationError as error:
        path, message = find_first_problem(error)
        raise InputError(message, field=".".join(["study", *map(str, path)])) from error
    for scale in head.scales:
        if not all(isinstance(one.get("value"), str) and isinstance(one.get("label"), str) for one in scale.categories):
            raise InputError("a category has a value and a label", field=f"study.scales: {scale.key}")
    return head
