"""The rows of a file, whatever it is written as."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from core.files.encodings import open_utf8
from core.files.input_files import InputFile
from core.files.problems import Problems
from core.files.tables.arrow import read_folder, read_parquet
from core.files.tables.delimited import detect_separator, read_delimited
from core.files.tables.documents import read_json, read_json_lines
from core.files.tables.layout import CSV, FOLDER, JSONL, PARQUET, XLSX, Layout, complete_layout
from core.files.tables.rows import RowNotes, TableRow
from core.files.tables.workbooks import read_workbook


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
