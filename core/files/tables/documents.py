"""JSON and JSON Lines: one object a row. JSON Lines are read one by one, so that a file may have any size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.errors import InputError
from core.files.checking import parse_document
from core.files.input_files import DOCUMENT_LIMIT, MEGABYTE, InputFile, lines, read_document
from core.files.problems import Problems
from core.files.tables.paths import find_value
from core.files.tables.rows import RowNotes, TableRow


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
        raise file.error(f"is a JSON document of more than {limit} MB; write it as JSON Lines, one object on each line")
    document = parse_document(file, read_document(file))
    for number, one in enumerate(find_rows(file, document, at, notes), start=1):
        if isinstance(one, dict):
            yield TableRow(number, one)
        else:
            problems.add(file.error("a JSON object is expected for each row", line=number), str(one)[:1000])


def find_rows(file: InputFile, document: Any, at: str, notes: RowNotes) -> list[Any]:
    """The list of rows in a document. An object without a list of objects, or with several, is one row itself."""
    if at:
        found = find_value(document, at)
        if not isinstance(found, list):
            raise file.error(f"has no list at {at}", field="at")
        return found
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise file.error("a JSON list of objects is expected")
    named = [name for name, value in document.items() if is_list_of_objects(value)]
    if len(named) == 1 and len(document) <= WRAPPERS:
        notes.said.append(f"The rows are in the list {named[0]} of the document.")
        rows: list[Any] = document[named[0]]
        return rows
    return [document]


WRAPPERS = 4
"""An object with more keys than this is a row itself, and its list a part of it."""


def is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
