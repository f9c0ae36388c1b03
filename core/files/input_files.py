"""Files from outside, read within limits, a document at once or lines one by one; and what to do about a bad record."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.errors import InputError

OnError = Literal["stop", "skip"]


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

    def to_json(self) -> list[dict[str, Any]]:
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

    def error(self, message: str, *, line: int | None = None, field: str | None = None) -> InputError:
        return InputError(message, file=self.name, line=line, field=field)

    def describe_line(self, line: int) -> str:
        return f"line {line}"


@dataclass(frozen=True)
class InputRows:
    """Rows of a request, counted from 0 as the API counts: what is wrong with one is wrong with `labels.3.item`."""

    name: str

    def error(self, message: str, *, line: int | None = None, field: str | None = None) -> InputError:
        place = (self.name, None if line is None else str(line), field)
        return InputError(message, field=".".join(part for part in place if part))

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
                raise file.error(f"is {size // MEGABYTE} MB, and a JSON document may have {limit // MEGABYTE} MB")
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
                    message = f"is longer than {limit // MEGABYTE} MB; one record is expected on each line"
                    problems.add(file.error(message, line=number), line[:1000])
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
    return file.error(f"cannot be read: {error.strerror}")


def not_utf8(data: bytes) -> tuple[str, int] | None:
    """Message and line (counted from 1) of the first byte that is not UTF-8; None where all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 (byte 0x{data[error.start]:02x}); save it with that encoding", line
    return None
