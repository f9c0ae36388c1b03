"""Files from outside, read within limits and checked by a schema; and what to do about a bad record."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from core.errors import InputError, gettext_noop
from core.files.json_text import SUSPICIOUS, find_line, key_twice, refuse_unstorable, reword_message, to_dotted_path

OnError = Literal["stop", "skip"]


class RefusedRecord(TypedDict):
    """What is wrong with a record, and where."""

    file: str | None
    line: int | None
    field: str | None
    message: str


@dataclass
class Problems:
    """Collects bad records. With `stop` (the default) the first one is raised."""

    on_error: OnError = "stop"
    errors: list[InputError] = field(default_factory=list)
    records: list[str] = field(default_factory=list)

    def add(self, error: InputError, record: bytes | str = b"") -> None:
        """Set a record aside; `record` is its text as it was found."""
        if self.on_error == "stop":
            raise error
        self.errors.append(error)
        self.records.append(record.decode("utf-8", "replace") if isinstance(record, bytes) else record)

    def to_json(self) -> list[RefusedRecord]:
        """The errors as plain data: file, line, field and message."""
        return [{"file": e.file, "line": e.line, "field": e.field, "message": e.message} for e in self.errors]

    def to_jsonl(self) -> str:
        """One line per bad record: where, why, and the record itself."""
        rows = [{**error, "record": text} for error, text in zip(self.to_json(), self.records, strict=True)]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


MEGABYTE = 1024 * 1024
LINE_LIMIT = 16 * MEGABYTE
DOCUMENT_LIMIT = 256 * MEGABYTE
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class InputFile:
    """A file, and the name by which the person who gave it knows it (an upload lies elsewhere)."""

    path: Path
    name: str

    @classmethod
    def from_path(cls, path: Path | str, name: str | None = None) -> InputFile:
        return cls(Path(path), name or str(path))

    def error(self, message: str, *, line: int | None = None, field: str | None = None, **parts: object) -> InputError:
        return InputError(message, file=self.name, line=line, field=field, **parts)

    def describe_line(self, line: int) -> str:
        return f"line {line}"


@dataclass(frozen=True)
class InputRows:
    """Rows of a request, counted from 0 as the API counts: what is wrong with one is wrong with `labels.3.item`."""

    name: str

    def error(self, message: str, *, line: int | None = None, field: str | None = None, **parts: object) -> InputError:
        place = ".".join(part for part in (self.name, None if line is None else str(line), field) if part)
        return InputError(message, file=None, line=None, field=place, **parts)

    def describe_line(self, line: int) -> str:
        return f"{self.name}.{line}"


Source = InputFile | InputRows
"""Where something came from, and how its errors say so."""


def read_document(file: InputFile, *, limit: int = DOCUMENT_LIMIT) -> bytes:
    """The whole file without its byte order mark. A file above `limit` bytes is refused before it is read."""
    try:
        with file.path.open("rb") as stream:
            size = file.path.stat().st_size
            if size > limit:
                raise file.error(
                    "is {size} MB, and a JSON document may have {most} MB",
                    size=size // MEGABYTE,
                    most=limit // MEGABYTE,
                )
            data = stream.read()
    except OSError as error:
        raise unreadable(file, error) from error
    data = data.removeprefix(BOM)
    if not data.strip():
        raise file.error("is empty")
    return data


def lines(file: InputFile, problems: Problems, *, limit: int = LINE_LIMIT) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of every line that is not blank. Never holds more than one line in memory."""
    try:
        with file.path.open("rb") as stream:
            if not stat.S_ISREG(file.path.stat().st_mode):
                raise file.error("is not a file")
            number = 0
            while line := stream.readline(limit + 1):
                number += 1
                if len(line) > limit:
                    wrong = file.error(
                        "is longer than {most} MB; one record is expected on each line",
                        line=number,
                        most=limit // MEGABYTE,
                    )
                    problems.add(wrong, line[:1000])
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(limit)
                    continue
                line = line.removeprefix(BOM).strip() if number == 1 else line.strip()
                if line:
                    yield number, line
    except OSError as error:
        raise unreadable(file, error) from error


def unreadable(file: InputFile, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return file.error("does not exist")
    if isinstance(error, IsADirectoryError):
        return file.error("is a folder; a file is expected")
    return file.error("cannot be read: {why}", why=error.strerror)


def not_utf8(data: bytes) -> tuple[str, int] | None:
    """Message and line (counted from 1) of the first byte that is not UTF-8; None where all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 (byte 0x{data[error.start]:02x}); save it with that encoding", line
    return None


Record = TypeVar("Record", bound=BaseModel)

TWICE = gettext_noop("is there twice in one object: which of the two holds cannot be told")

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
        raise file.error(
            "the id {identity!r} is on line {first} already", line=number, field="id", identity=identity, first=first
        )


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


def check_value(file: InputFile, data: bytes, place: list[str | int], given: object, model: type[Record]) -> Record:
    """The part of the document `data` that stands at `place`, checked."""
    depth = len(place)
    try:
        record = model.model_validate(given)
    except ValidationError as error:
        path, message = find_first_problem(error)
        raise locate_error(file, data, [*place, *path], message, skip=depth) from error
    refuse_unstorable(given, lambda path, why: locate_error(file, data, [*place, *path], why, skip=depth))
    return record


def parse_document(file: InputFile, data: bytes) -> object:
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
    return file.error("not JSON: {why}", line=int(line[1]) if line else None, why=reword_message(message))


def find_first_problem(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Path and message of the first thing that is wrong."""
    detail = error.errors(include_url=False)[0]
    path = tuple(part for part in detail["loc"] if part != "[key]")
    return path, explain_message(detail["type"], detail["msg"], detail.get("input"))


def explain_message(kind: str, message: str, given: object) -> str:
    """A message of pydantic in the words of someone who looks at a file."""
    if kind == "missing":
        return gettext_noop("is missing")
    if kind == "json_invalid":
        return "not JSON: " + reword_message(message.removeprefix("Invalid JSON: "))
    if kind in ("string_too_short", "too_short"):
        return gettext_noop("is empty")
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    shown = json.dumps(given, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return f"{SHOULD_BE.get(kind) or message.removeprefix('Input ').removeprefix('String ')}, not {shown}"
