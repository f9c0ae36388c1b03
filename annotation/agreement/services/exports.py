"""Writing labels out, row by row, so that a study of any size needs little memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.utils.translation import gettext_noop

from annotation.agreement.services import label_files
from annotation.agreement.services.label_files import CONTENT, EVIDENCE
from annotation.studies.queries.labels import LabelRow
from core.csv_files import drop_formula, write_safe_csv
from core.documents import AT_ONCE
from core.errors import InputError
from core.files.writing import write_whole
from core.read_snapshot import read_snapshot

FREE_TEXT = frozenset({"study", "item_id", "item_source", "stratum", "rater", "unscored_reason", "note"})
"""Columns whose content somebody typed or that came with imported material."""

VALUE = LabelRow._fields.index("value")
"""A category somebody typed, too. A sign alone, such as - for none of several, is no formula."""

TYPED = [place for place, name in enumerate(LabelRow._fields) if name in FREE_TEXT]
AT = LabelRow._fields.index("submitted_at")


@dataclass(frozen=True)
class Format:
    """A way to write rows down.

    Attributes
    ----------
    name
        As on the command line, and the file's ending.
    title, about
        As people call it, and what it is.
    pieces
        Pieces of the file from rows.
    """

    name: str
    title: str
    about: str
    pieces: Callable[[Iterable[LabelRow]], Iterator[bytes]]


def csv_lines(rows: Iterable[LabelRow]) -> Iterator[str]:
    """A header and one line per row (RFC 4180), some thousand at a time. What a spreadsheet would run is defused."""
    return write_safe_csv(LabelRow._fields, map(_cells, rows))


def _cells(row: LabelRow) -> list[object]:
    cells: list[object] = list(row)
    for place in TYPED:
        cells[place] = drop_formula(str(row[place]))
    if len(row.value) > 1:
        cells[VALUE] = drop_formula(row.value)
    cells[EVIDENCE] = json.dumps(row.evidence, ensure_ascii=False) if row.evidence else ""
    cells[CONTENT] = json.dumps(row.content, ensure_ascii=False) if row.content is not None else ""
    cells[AT] = row.submitted_at.isoformat() if row.submitted_at else None
    return cells


def jsonl_lines(rows: Iterable[LabelRow]) -> Iterator[str]:
    """One JSON object per row, some thousand at a time; what does not apply is null. Texts are left as they are."""
    left = (json.dumps(to_json(row), ensure_ascii=False) + "\n" for row in rows)
    while some := "".join(islice(left, AT_ONCE)):
        yield some


def to_json(row: LabelRow) -> dict[str, object]:
    """The row as JSON types."""
    at = row.submitted_at.isoformat() if row.submitted_at else None
    return {**row._asdict(), "submitted_at": at}


def encode_lines(
    lines: Callable[[Iterable[LabelRow]], Iterator[str]],
) -> Callable[[Iterable[LabelRow]], Iterator[bytes]]:
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
            gettext_noop("For a spreadsheet or R. Texts that a spreadsheet would run as formulas are defused."),
            encode_lines(csv_lines),
        ),
        Format(
            "jsonl",
            "JSONL",
            gettext_noop("One JSON object a line, texts as they are."),
            encode_lines(jsonl_lines),
        ),
        Format(
            "parquet",
            "Parquet",
            gettext_noop("With types, packed: for pandas, Polars, DuckDB or Arrow."),
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
            "labels cannot be written as {name!r}; choose {formats}",
            field="format",
            name=name,
            formats=" or ".join(FORMATS),
        ) from None


def write(rows: Iterable[LabelRow], fmt: Format, path: Path) -> None:
    """Write the file as a whole or not at all. Raises InputError where the place cannot be written."""
    with read_snapshot():
        write_pieces(fmt.pieces(rows), path)


def write_pieces(pieces: Iterable[bytes], path: Path) -> None:
    """Write a file as a whole or not at all. Raises InputError where the place cannot be written."""
    try:
        with write_whole(path) as file:
            file.writelines(pieces)
    except OSError as error:
        raise InputError("cannot be written: {strerror}", file=str(path), strerror=error.strerror) from error
