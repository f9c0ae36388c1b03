"""Excel workbooks (.xlsx): one sheet, whose first row names the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from core.files.input_files import MEGABYTE, InputFile
from core.files.tables.delimited import name_columns
from core.files.tables.rows import RowNotes, TableRow, is_blank

UNPACKED_LIMIT = 256 * MEGABYTE
"""A workbook is read as a whole, and a small file can unpack to a very large one."""


def open_workbook(file: InputFile) -> CalamineWorkbook:
    """Open a workbook. InputError where it is none, or larger than the limit."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            size = sum(one.file_size for one in archive.infolist())
        if size > UNPACKED_LIMIT:
            limit = UNPACKED_LIMIT // MEGABYTE
            raise file.error(f"unpacks to {size // MEGABYTE:,} MB, more than {limit} MB; save the sheet as CSV")
        return CalamineWorkbook.from_path(str(file.path))
    except (OSError, zipfile.BadZipFile, CalamineError) as error:
        raise file.error(f"is not an Excel workbook that can be read: {error}") from error


def list_sheets(file: InputFile) -> list[str]:
    """The names of the sheets, in their order."""
    return list(open_workbook(file).sheet_names)


def read_workbook(file: InputFile, sheet: str, notes: RowNotes) -> Iterator[TableRow]:
    """Yield the rows of a sheet; the first one where none is named. Dates are ISO 8601."""
    workbook = open_workbook(file)
    names = list(workbook.sheet_names)
    chosen = sheet or next(iter(names), "")
    if chosen not in names:
        raise file.error(f"has no sheet {chosen!r}; it has {', '.join(names) or 'none'}", field="sheet")
    if not sheet and len(names) > 1:
        notes.said.append(f"The workbook has {len(names)} sheets; {chosen} is read.")
    rows = iter(workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=False))
    numbered = ((line, row) for line, row in enumerate(rows, start=1) if not all(map(is_blank, row)))
    found = next(numbered, None)
    if found is None:
        raise file.error(f"has nothing on the sheet {chosen}", field="sheet")
    columns, used = name_columns(found[1], notes)
    for line, row in numbered:
        yield TableRow(line, {columns[place]: to_plain(row[place]) for place in used})


def to_plain(cell: Any) -> Any:
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
