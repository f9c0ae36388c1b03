"""Text with separators: CSV, TSV, and what spreadsheets write in their place."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from core.files.input_files import LINE_LIMIT, InputFile, not_utf8, unreadable
from core.files.problems import Problems
from core.files.tables.layout import EXCEL_HINT, SEPARATORS
from core.files.tables.rows import RowNotes, TableRow

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
        raise file.error(f"not CSV: {error}; is a quotation mark not closed?", line=start) from error


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
