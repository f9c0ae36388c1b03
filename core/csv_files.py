"""CSV files in which no cell is a formula: a spreadsheet shows what a text says, and runs nothing of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from core.batches import iterate_batches

STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
ROWS_PER_PIECE = 2000


def drop_formula(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet would take it for a formula.

    A plain number such as -12 stays as it is, and so does a single character such as +.
    """
    if not text.startswith(STARTS_FORMULA) or len(text) == 1:
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def restore_formula(text: str) -> str:
    """Return the text without the apostrophe that `drop_formula` put before it."""
    return text[1:] if text.startswith("'") and drop_formula(text[1:]) == text else text


def safe_cells(row: Iterable[object]) -> list[object]:
    """Return the cells of a row with every text made safe for a spreadsheet."""
    return [drop_formula(cell) if isinstance(cell, str) else cell for cell in row]


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Write rows as one CSV text (RFC 4180); the first row is the header."""
    text = io.StringIO()
    csv.writer(text).writerows(safe_cells(row) for row in rows)
    return text.getvalue()


def csv_pieces(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Write a header and rows as CSV, some thousand rows a piece, so that any number needs little memory."""
    return write_safe_csv(columns, map(safe_cells, rows))


def write_safe_csv(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Write a header and rows whose cells are safe already, some thousand rows a piece."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for some in iterate_batches(rows, ROWS_PER_PIECE):
        writer.writerows(some)
        yield take_text(buffer)
    yield take_text(buffer)


def take_text(buffer: io.StringIO) -> str:
    """Return what the buffer holds, and empty it."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
