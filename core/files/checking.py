"""Records checked against their schema, and errors that name file, line and field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from core.errors import InputError
from core.files.input_files import InputFile, Problems, lines, not_utf8, read_document
from core.files.json_text import SUSPICIOUS, find_line, key_twice, refuse_unstorable, reword_message, to_dotted_path

Record = TypeVar("Record", bound=BaseModel)

TWICE = "is there twice in one object: which of the two holds cannot be told"

SHOULD_BE = {
    "dict_type": "should be a JSON object",
    "model_type": "should be a JSON object",
    "list_type": "should be a list",
    "string_type": "should be text",
}


def read_jsonl(
    file: InputFile, model: type[Record], problems: Problems, *, id_of: Callable[[Record], str]
) -> Iterator[tuple[int, Record]]:
    """Line number and checked record of every good line. Bad lines and repeated ids go to `problems`."""
    seen: dict[str, int] = {}
    empty = True
    for number, line in lines(file, problems):
        empty = False
        try:
            record = check_line(file, number, line, model)
            refuse_repetition(file, number, seen, id_of(record))
        except InputError as error:
            problems.add(error, line)
        else:
            yield number, record
    if empty and not problems.errors:
        raise file.error("is empty")


def refuse_repetition(file: InputFile, number: int, seen: dict[str, int], identity: str) -> None:
    """Raise if the id was seen before; remember it otherwise."""
    first = seen.setdefault(identity, number)
    if first != number:
        raise file.error(f"the id {identity!r} is on line {first} already", line=number, field="id")


def read_list(
    file: InputFile, model: type[Record], problems: Problems, *, id_field: str
) -> Iterator[tuple[int, Record]]:
    """Place (from 0) and checked record of every good record of a document that is a JSON list."""
    data = read_document(file)
    document = parse_document(file, data)
    if not isinstance(document, list):
        raise file.error("a JSON list of records is expected", line=1)
    seen: dict[str, int] = {}
    for index, given in enumerate(document):
        try:
            record = check_value(file, data, [index], given, model)
            identity = str(getattr(record, id_field))
            if seen.setdefault(identity, index) != index:
                message = f"the {id_field} {identity} is there twice"
                problems.add(locate_error(file, data, [index, id_field], message, skip=1), to_json(given))
                continue
        except InputError as error:
            problems.add(error, to_json(given))
        else:
            yield index, record


def check_value(file: InputFile, data: bytes, place: list[str | int], given: Any, model: type[Record]) -> Record:
    """The part of the document `data` that stands at `place`, checked."""
    depth = len(place)
    try:
        record = model.model_validate(given)
    except ValidationError as error:
        path, message = find_first_problem(error)
        raise locate_error(file, data, [*place, *path], message, skip=depth) from error
    refuse_unstorable(given, lambda path, why: locate_error(file, data, [*place, *path], why, skip=depth))
    return record


def parse_document(file: InputFile, data: bytes) -> Any:
    """The JSON value in `data`; InputError with the line where it is none."""
    try:
        document = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise not_json(file, data, error) from error
    if twice := key_twice(data.decode()):
        raise file.error(TWICE, line=twice[1], field=twice[0])
    return document


def locate_error(file: InputFile, data: bytes, path: Sequence[str | int], message: str, *, skip: int = 0) -> InputError:
    """An error at `path` of a document, with its line; the first `skip` parts are left out of the field's name."""
    return file.error(message, line=find_line(data.decode(), path), field=to_dotted_path(path[skip:]))


def check_line(file: InputFile, number: int, line: bytes, model: type[Record]) -> Record:
    """One line as a checked record."""
    try:
        record = model.model_validate_json(line)
    except ValidationError as error:
        raise line_error(file, number, line, error) from error
    if twice := key_twice(line.decode()):
        raise file.error(TWICE, line=number, field=twice[0])
    if SUSPICIOUS.search(line):
        refuse_unstorable(json.loads(line), lambda path, why: file.error(why, line=number, field=to_dotted_path(path)))
    return record


def locate_in_document(file: InputFile, path: Sequence[str | int], message: str, *, skip: int = 0) -> InputError:
    """As `locate_error`, for a document that is no longer in memory."""
    return locate_error(file, read_document(file), path, message, skip=skip)


def line_error(file: InputFile, number: int, line: bytes, error: ValidationError) -> InputError:
    """What is wrong with a line of JSONL."""
    if encoding := not_utf8(line):
        return file.error(encoding[0], line=number)
    path, message = find_first_problem(error)
    if not path and line[:1] != b"{":
        message = f"one JSON object is expected on each line ({message})"
    return file.error(message, line=number, field=to_dotted_path(path))


def not_json(file: InputFile, data: bytes, error: ValueError) -> InputError:
    """Why a document could not be parsed, and on which line."""
    if encoding := not_utf8(data):
        return file.error(encoding[0], line=encoding[1])
    line = re.search(r" at line (\d+) column (\d+)$", str(error))
    message = str(error).removesuffix(line[0]) + f", column {line[2]}" if line else str(error)
    return file.error(f"not JSON: {reword_message(message)}", line=int(line[1]) if line else None)


def find_first_problem(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Path and message of the first thing that is wrong."""
    detail = error.errors(include_url=False)[0]
    path = tuple(part for part in detail["loc"] if part != "[key]")
    return path, explain_message(detail["type"], detail["msg"], detail.get("input"))


def explain_message(kind: str, message: str, given: Any) -> str:
    """A message of pydantic in the words of someone who looks at a file."""
    if kind == "missing":
        return "is missing"
    if kind == "json_invalid":
        return "not JSON: " + reword_message(message.removeprefix("Invalid JSON: "))
    if kind in ("string_too_short", "too_short"):
        return "is empty"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    shown = json.dumps(given, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return f"{SHOULD_BE.get(kind) or message.removeprefix('Input ').removeprefix('String ')}, not {shown}"
