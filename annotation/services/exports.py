"""Writing labels out, row by row, so that a study of any size needs little memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.documents import AT_ONCE
from annotation.errors import InputError
from annotation.queries.labels import LabelRow
from annotation.services import label_files

FREE_TEXT = frozenset({"study", "item_id", "item_source", "stratum", "rater", "unscored_reason", "note"})
"""Columns whose content somebody typed or that came with imported material."""

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Format:
    """A way to write rows down.

    Attributes
    ----------
    name
        As on the command line, and the file's ending.
    title, about
        As people call it, and what it is.
    content_type
        As the browser is told.
    pieces
        Pieces of the file from rows.
    """

    name: str
    title: str
    about: str
    content_type: str
    pieces: Callable[[Iterable[LabelRow]], Iterator[bytes]]


def csv_lines(rows: Iterable[LabelRow]) -> Iterator[str]:
    """A header and one line per row (RFC 4180). Free text that a spreadsheet would run is defused."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(LabelRow._fields)
    for row in rows:
        writer.writerow(_cell(name, value) for name, value in zip(LabelRow._fields, row, strict=True))
        yield _taken(buffer)
    yield _taken(buffer)


def csv_pieces(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """A header and the rows, some thousand at a time. Texts that a spreadsheet would run are defused."""
    buffer, left = io.StringIO(), iter(rows)
    writer = csv.writer(buffer)
    writer.writerow(columns)
    while some := list(islice(left, AT_ONCE)):
        writer.writerows([without_formula(cell) if isinstance(cell, str) else cell for cell in row] for row in some)
        yield _taken(buffer)
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if name == "evidence":
        return json.dumps(value, ensure_ascii=False) if value else ""
    return without_formula(value) if name in FREE_TEXT else value


def without_formula(text: str) -> str:
    """The text, with an apostrophe before it where a spreadsheet would take it for a formula.

    A plain number such as -12 stays as it is.
    """
    if not text.startswith(STARTS_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def jsonl_lines(rows: Iterable[LabelRow]) -> Iterator[str]:
    """One JSON object per row; what does not apply is null. Texts are left as they are."""
    for row in rows:
        yield json.dumps(as_json(row), ensure_ascii=False) + "\n"


def as_json(row: LabelRow) -> dict[str, Any]:
    """The row as JSON types."""
    at = row.submitted_at.isoformat() if row.submitted_at else None
    return {**row._asdict(), "submitted_at": at}


def encoded(lines: Callable[[Iterable[LabelRow]], Iterator[str]]) -> Callable[[Iterable[LabelRow]], Iterator[bytes]]:
    """The lines as UTF-8."""

    def pieces(rows: Iterable[LabelRow]) -> Iterator[bytes]:
        return (line.encode() for line in lines(rows))

    return pieces


FORMATS = {
    one.name: one
    for one in (
        Format(
            "csv",
            "CSV",
            "For a spreadsheet or R. Texts that a spreadsheet would run as formulas are defused.",
            "text/csv; charset=utf-8",
            encoded(csv_lines),
        ),
        Format(
            "jsonl",
            "JSONL",
            "One JSON object a line, texts as they are.",
            "application/x-ndjson; charset=utf-8",
            encoded(jsonl_lines),
        ),
        Format(
            "parquet",
            "Parquet",
            "With types, packed: for pandas, Polars, DuckDB or Arrow.",
            "application/vnd.apache.parquet",
            label_files.parquet_pieces,
        ),
    )
}


def format_named(name: str) -> Format:
    """The format. Raises InputError, naming those that exist, where there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise InputError(
            f"labels cannot be written as {name!r}; choose {' or '.join(FORMATS)}", field="format"
        ) from None


def write(rows: Iterable[LabelRow], fmt: Format, path: Path) -> None:
    """Write the file as a whole or not at all. Raises InputError where the place cannot be written."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            file.writelines(fmt.pieces(rows))
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
