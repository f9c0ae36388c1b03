"""The rows of a file, whatever it is written as: text with separators, JSON, JSON Lines, Excel workbooks, and others.

JSON Lines are read one by one, so that a file may have any size.
"""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from itertools import islice

from python_calamine import CalamineError, CalamineWorkbook

from core.errors import InputError
from core.files.input_files import (
    DOCUMENT_LIMIT,
    LINE_LIMIT,
    MEGABYTE,
    InputFile,
    Problems,
    lines,
    not_utf8,
    parse_document,
    read_document,
    unreadable,
)
from core.files.tables.arrow import read_folder, read_parquet
from core.files.tables.layout import (
    CSV,
    EXCEL_HINT,
    FOLDER,
    JSONL,
    PARQUET,
    SEPARATORS,
    XLSX,
    Layout,
    complete_layout,
    open_utf8,
)
from core.files.tables.rows import RowNotes, TableRow, find_value, is_blank

csv.field_size_limit(LINE_LIMIT)
LOOKED_AT = 50
"""Rows from which the separator is found."""


def detect_separator(file: InputFile) -> str:
    """Return the separator under which the first rows of a UTF-8 file have the same number of cells, and most."""
    with file.path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        head = stream.read(200_000)
    first = head.partition("\n")[0].strip()
    if first.lower().startswith(EXCEL_HINT) and first[len(EXCEL_HINT) :][:1] in SEPARATORS:
        return first[len(EXCEL_HINT) :][:1]
    return max(SEPARATORS, key=lambda separator: rate_separator(head, separator))


def rate_separator(head: str, separator: str) -> tuple[float, int]:
    """The share of rows that have the most frequent number of cells, if that is above one; and that number."""
    try:
        rows = list(islice(csv.reader(head.splitlines(keepends=True), delimiter=separator), LOOKED_AT))
    except csv.Error:
        return 0.0, 0
    counts = Counter(len(cells) for cells in rows if any(cells))
    if not counts:
        return 0.0, 0
    usual, n = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
    header = len(rows[0])
    return (n / sum(counts.values()) if usual > 1 else 0.0) + (1.0 if header == usual > 1 else 0.0), usual


def read_delimited(file: InputFile, separator: str, problems: Problems, notes: RowNotes) -> Iterator[TableRow]:
    """Yield the rows of a UTF-8 file whose first row names the columns.

    A row with fewer cells ends in empty ones, and is counted; one with more is a problem. Memory holds one row.
    """
    cells = read_cells(file, separator)
    line, header = next(cells, (1, []))
    if header and header[0].lower().startswith(EXCEL_HINT) and not any(header[1:]):
        line, header = next(cells, (2, []))
    if not header:
        raise file.error("is empty")
    names, used = name_columns(header, notes)
    for line, row in cells:
        if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
            message = f"has {len(row)} cells where the first row names {len(header)} columns"
            problems.add(file.error(message, line=line), separator.join(row))
            continue
        if len(row) < len(header):
            notes.counts["fewer cells than there are columns; the missing ones count as empty"] += 1
            row += [""] * (len(header) - len(row))
        yield TableRow(line, {names[place]: row[place].strip() for place in used})


def read_cells(file: InputFile, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of every row that is not blank."""
    start = 1
    try:
        with file.path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader((line.replace("\0", "\ufffd") for line in stream), delimiter=separator)
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield start, row
                start = reader.line_num + 1
    except OSError as error:
        raise unreadable(file, error) from error
    except UnicodeDecodeError as error:
        message, line = not_utf8(file.path.read_bytes()) or (str(error), start)
        raise file.error(message, line=line) from error
    except csv.Error as error:
        raise file.error("not CSV: {why}; is a quotation mark not closed?", line=start, why=error) from error


def name_columns(header: Sequence[object], notes: RowNotes) -> tuple[list[str], list[int]]:
    """The names of the columns, each once, and the places of those that are used.

    A second column of one name is `name (2)`, one without a name `column 3`; those without a name at the end, as
    spreadsheets leave them, are not used.
    """
    texts = ["" if name is None else str(name).strip() for name in header]
    while texts and not texts[-1]:
        texts.pop()
    names: list[str] = []
    for place, text in enumerate(texts, start=1):
        name = base = text or f"column {place}"
        number = 2
        while name in names:
            name, number = f"{base} ({number})", number + 1
        if name != text:
            what = f"There are several columns named {text}" if text else f"Column {place} has no name"
            notes.said.append(f"{what}; it is called {name} here.")
        names.append(name)
    return names, list(range(len(names)))


def read_json_lines(file: InputFile, problems: Problems) -> Iterator[TableRow]:
    """Yield the objects of a UTF-8 file with one on each line. Bad lines go to the problems."""
    for number, line in lines(file, problems):
        try:
            found = parse_document(file, line)
        except InputError as error:
            problems.add(file.error(error.message, line=number, field=error.field), line)
            continue
        if isinstance(found, dict):
            yield TableRow(number, found)
        else:
            problems.add(file.error("one JSON object is expected on each line", line=number), line)


def read_json(file: InputFile, at: str, problems: Problems, notes: RowNotes) -> Iterator[TableRow]:
    """Yield the objects of the list at the dotted path `at`; without one, of the document or its only list."""
    if file.path.stat().st_size > DOCUMENT_LIMIT:
        limit = DOCUMENT_LIMIT // MEGABYTE
        raise file.error(
            "is a JSON document of more than {most} MB; write it as JSON Lines, one object on each line", most=limit
        )
    document = parse_document(file, read_document(file))
    for number, one in enumerate(find_rows(file, document, at, notes), start=1):
        if isinstance(one, dict):
            yield TableRow(number, one)
        else:
            problems.add(file.error("a JSON object is expected for each row", line=number), str(one)[:1000])


def find_rows(file: InputFile, document: object, at: str, notes: RowNotes) -> list[object]:
    """The list of rows in a document. An object without a list of objects, or with several, is one row itself."""
    if at:
        found = find_value(document, at)
        if not isinstance(found, list):
            raise file.error("has no list at {at}", field="at", at=at)
        return found
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise file.error("a JSON list of objects is expected")
    named = [name for name, value in document.items() if is_list_of_objects(value)]
    if len(named) == 1 and len(document) <= WRAPPERS:
        notes.said.append(f"The rows are in the list {named[0]} of the document.")
        rows: list[object] = document[named[0]]
        return rows
    return [document]


WRAPPERS = 4
"""An object with more keys than this is a row itself, and its list a part of it."""


def is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


UNPACKED_LIMIT = 256 * MEGABYTE
"""A workbook is read as a whole, and a small file can unpack to a very large one."""


def open_workbook(file: InputFile) -> CalamineWorkbook:
    """Open a workbook. InputError where it is none, or larger than the limit."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            size = sum(one.file_size for one in archive.infolist())
        if size > UNPACKED_LIMIT:
            limit = UNPACKED_LIMIT // MEGABYTE
            raise file.error(
                "unpacks to {size:,} MB, more than {most} MB; save the sheet as CSV", size=size // MEGABYTE, most=limit
            )
        return CalamineWorkbook.from_path(str(file.path))
    except (OSError, zipfile.BadZipFile, CalamineError) as error:
        raise file.error("is not an Excel workbook that can be read: {why}", why=error) from error


def list_sheets(file: InputFile) -> list[str]:
    """The names of the sheets, in their order."""
    return list(open_workbook(file).sheet_names)


def read_workbook(file: InputFile, sheet: str, notes: RowNotes) -> Iterator[TableRow]:
    """Yield the rows of a sheet; the first one where none is named. Dates are ISO 8601."""
    workbook = open_workbook(file)
    names = list(workbook.sheet_names)
    chosen = sheet or next(iter(names), "")
    if chosen not in names:
        raise file.error(
            "has no sheet {chosen!r}; it has {names}", field="sheet", chosen=chosen, names=", ".join(names) or "none"
        )
    if not sheet and len(names) > 1:
        notes.said.append(f"The workbook has {len(names)} sheets; {chosen} is read.")
    rows = iter(workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=False))
    numbered = ((line, row) for line, row in enumerate(rows, start=1) if not all(map(is_blank, row)))
    found = next(numbered, None)
    if found is None:
        raise file.error("has nothing on the sheet {chosen}", field="sheet", chosen=chosen)
    columns, used = name_columns(found[1], notes)
    for line, row in numbered:
        yield TableRow(line, {columns[place]: to_plain(row[place]) for place in used})


def to_plain(cell: object) -> object:
    """A cell as JSON has it. Numbers are floats in a workbook: 3.0 is 3. A date without a time is a date."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return cell.strip() if isinstance(cell, str) else cell


@dataclass(frozen=True)
class Table:
    """An open file of rows: how it is laid out, its rows, and what was noted while they were read."""

    layout: Layout
    rows: Iterator[TableRow]
    notes: RowNotes = field(default_factory=RowNotes)


@contextmanager
def open_table(file: InputFile, layout: Layout, problems: Problems) -> Iterator[Table]:
    """Open a file to read its rows one by one. Bad rows go to the problems.

    InputError where the file cannot be read, or is not laid out so.
    """
    complete = complete_layout(file, layout)
    with open_utf8(file, complete.encoding or "utf-8") as text:
        if complete.form == CSV:
            complete = replace(complete, separator=complete.separator or detect_separator(text))
        notes = RowNotes()
        yield Table(complete, read_rows(text, complete, problems, notes), notes)


def read_rows(file: InputFile, layout: Layout, problems: Problems, notes: RowNotes) -> Iterator[TableRow]:
    """Yield the rows of a file that is UTF-8 where it is text."""
    if layout.form == CSV:
        return read_delimited(file, layout.separator, problems, notes)
    if layout.form == XLSX:
        return read_workbook(file, layout.sheet, notes)
    if layout.form == JSONL:
        return read_json_lines(file, problems)
    if layout.form == PARQUET:
        return read_parquet(file)
    return read_folder(file) if layout.form == FOLDER else read_json(file, layout.at, problems, notes)
