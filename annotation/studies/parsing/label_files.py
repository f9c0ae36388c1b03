"""A CSV file with a column of people's labels and one of a judge's, for calibration.

One row per item. An empty cell of the people's column makes the item unlabelled, one of the judge's column unscored.
A column `item` may name the items; other columns are read where they are asked for. Comma, semicolon and tab are
understood.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from annotation.stats.labels import is_missing, parse_number
from annotation.stats.table import FloatArray
from core.csv_files import restore_formula
from core.errors import InputError

ITEM = "item"


@dataclass(frozen=True)
class LabelFileRow:
    """A line of the file and its cells by column."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class LabelFile:
    """The rows of a file whose columns have been checked to be there."""

    path: Path
    rows: tuple[LabelFileRow, ...]

    def texts(self, column: str) -> tuple[str | None, ...]:
        """The cells of a column, None where empty."""
        cells = (row.cells[column] for row in self.rows)
        return tuple(None if is_missing(cell) else cell for cell in cells)

    def numbers(self, column: str) -> FloatArray:
        """(n,) the numbers of a column, NaN where empty. Raises InputError where something else stands."""
        return np.array([self._number(row, column) for row in self.rows], dtype=float)

    def _number(self, row: LabelFileRow, column: str) -> float:
        cell = row.cells[column]
        if is_missing(cell):
            return float("nan")
        try:
            number = parse_number(cell)
        except ValueError as error:
            raise InputError(str(error), file=str(self.path), line=row.line, field=column) from error
        if number is None:
            raise InputError("{cell!r} is not a number", file=str(self.path), line=row.line, field=column, cell=cell)
        return number


def read(path: Path, columns: Sequence[str]) -> LabelFile:
    """The rows of a file that has the given columns.

    Raises
    ------
    InputError
        Naming file, line and column, where the file cannot be read, lacks a column, has a row of another length, or
        names an item twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            _, rows = read_rows(file, partial(_check_columns, columns))
        _check_items(rows)
    except InputError as error:
        raise InputError(error.message, file=str(path), line=error.line, field=error.field) from error
    except OSError as error:
        raise InputError("cannot be read: {strerror}", file=str(path), strerror=error.strerror) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text in UTF-8", file=str(path)) from error
    if not rows:
        raise InputError("there are no rows", file=str(path), line=2)
    return LabelFile(path, tuple(rows))


def read_rows(file: Iterator[str], check: Callable[[Sequence[str]], None]) -> tuple[list[str], list[LabelFileRow]]:
    """The columns that the first line names, which `check` may refuse with an InputError, and the rows behind it."""
    header = next(file, "")
    delimiter = max(",;\t", key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    check(names)
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError("the column stands twice", line=1, field=twice[0])
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        return names, [_row(names, cells, reader.line_num + 1) for cells in reader if any(cells)]
    except csv.Error as error:
        raise InputError(str(error), line=reader.line_num + 1) from error


def _row(names: Sequence[str], cells: Sequence[str], line: int) -> LabelFileRow:
    if len(cells) != len(names):
        raise InputError(
            "{n_cells} cells where the first line names {n_names} columns",
            line=line,
            n_cells=len(cells),
            n_names=len(names),
        )
    return LabelFileRow(line, dict(zip(names, (restore_formula(cell.strip()) for cell in cells), strict=True)))


def _check_columns(wanted: Sequence[str], names: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise InputError(
                "there is no column {name!r}; there are {names}", line=1, name=name, names=", ".join(names) or "none"
            )


def _check_items(rows: Sequence[LabelFileRow]) -> None:
    seen: dict[str, int] = {}
    for row in rows:
        if ITEM not in row.cells:
            return
        before = seen.setdefault(row.cells[ITEM], row.line)
        if before != row.line:
            raise InputError(
                "{cells!r} stands in line {before} already",
                line=row.line,
                field=ITEM,
                cells=row.cells[ITEM],
                before=before,
            )
