"""Material out of any table: rows of a file become records by a mapping, some hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from annotation.corpus.imports import records
from annotation.corpus.imports.records import BATCH, Context, iterate_batches
from annotation.corpus.imports.table_records import TableRecords, check_rules
from annotation.corpus.parsing.guessing import find_columns
from annotation.corpus.parsing.mappings import ColumnMapping
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.encodings import ENCODINGS, UTF_8
from core.files.input_files import InputFile
from core.files.outcome import Outcome, explain_refusal
from core.files.problems import OnError, Problems
from core.files.tables.layout import Layout
from core.files.tables.reading import Table, open_table

TABLE_SOURCE = "table"
"""Whose ids those of a table are, where nothing else is said."""
LOOKED_AT = 100
"""Rows from which the columns of a file are told."""


@audited("material.import", says=("file", "source", "on_error", "mapping.kind", "mapping.format"))
def load(
    *,
    by: User | None,  # noqa: ARG001
    file: InputFile,
    mapping: ColumnMapping,
    source: str = TABLE_SOURCE,
    on_error: OnError = "stop",
) -> Outcome:
    """Import the rows of a file as its mapping says; ids are those of `source`.

    All or nothing, unless bad records are skipped. InputError names file, line and field.
    """
    problems = Problems(on_error)
    reader = TableRecords(file, mapping, problems)
    check_rules(mapping.draw, reader.kind)
    context, outcome = Context.build(file, source, problems), Outcome((reader.kind,))
    with open_checked(file, mapping, problems) as table, explain_refusal(file), transaction.atomic():
        for batch in iterate_batches(reader.iterate(table.rows), BATCH):
            records.save(reader.kind, batch, context, outcome)
        refuse_nothing(reader)
    outcome.warnings += [*describe_encoding(table.layout), *table.notes.to_sentences(), *reader.to_sentences()]
    outcome.set_aside(problems, beside=file.path)
    return outcome


def refuse_nothing(reader: TableRecords) -> None:
    """Refuse a file that has no rows, or none that is of its format."""
    if reader.problems.errors:
        return
    if not reader.counts["rows"]:
        raise reader.file.error("names columns but has no rows")
    if reader.format and not reader.counts["records"]:
        raise reader.file.error(f"no row is a conversation in the format {reader.format.title}", field="format")


def describe_encoding(layout: Layout) -> list[str]:
    """A sentence where the text was not UTF-8, which a reader may have to correct."""
    return [f"Read as {ENCODINGS[layout.encoding]}."] if layout.encoding not in ("", UTF_8) else []


@contextmanager
def open_checked(file: InputFile, mapping: ColumnMapping, problems: Problems) -> Iterator[Table]:
    """Open a file whose columns are those that the mapping names. InputError where one of them is not there."""
    check_columns(file, mapping)
    with open_table(file, mapping.read.to_layout(), problems) as table:
        yield table


def check_columns(file: InputFile, mapping: ColumnMapping) -> None:
    """Refuse a mapping that names a column which none of the first rows has."""
    if not mapping.named_columns:
        return
    with open_table(file, mapping.read.to_layout(), Problems("skip")) as table:
        rows = [row for row, _ in zip(table.rows, range(LOOKED_AT), strict=False)]
    if not rows:
        raise file.error("names columns but has no rows")
    try:
        mapping.check_columns([column.path for column in find_columns(rows)])
    except InputError as error:
        raise InputError(error.message, file=file.name, field=error.field) from error
