"""Material out of any table: rows of a file become records by a mapping, some hundred at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from annotation.corpus.formats.base import ChatFormat
from annotation.corpus.formats.registry import find_format
from annotation.corpus.imports import records
from annotation.corpus.imports.records import BATCH, Context
from annotation.corpus.parsing.drawing_rules import DrawingCounts, DrawingRules
from annotation.corpus.parsing.guessing import find_columns
from annotation.corpus.parsing.mapped_rows import SCHEMAS, build_record, iterate_groups, name_place
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.parsing.records import DrawnRecord, Record
from core.accounts.models.users import User
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems, find_first_problem
from core.files.json_text import refuse_unstorable, to_dotted_path
from core.files.long_files import SeenIds
from core.files.outcome import Outcome, explain_refusal
from core.files.tables.layout import ENCODINGS, UTF_8, Layout
from core.files.tables.reading import Table, open_table
from core.files.tables.rows import TableRow
from core.hashing import content_hash

UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
"""What a row that is not of its format raises when it is read; InputError is a ValueError."""

Given = dict[str, object]


@dataclass
class TableRecords:
    """Reads the records of one file. Bad ones go to the problems; the rest is counted in `notes`."""

    file: InputFile
    mapping: ColumnMapping
    problems: Problems
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.format: ChatFormat | None = find_format(self.mapping.format) if self.mapping.format else None
        self.kind = self.format.kind if self.format else self.mapping.kind
        self.schema = SCHEMAS[self.kind]
        self.drawn = DrawingCounts.build(self.mapping.draw)

    def iterate(self, rows: Iterable[TableRow]) -> Iterator[tuple[int, Record]]:
        """Yield line and checked record of each that is kept. Memory does not grow with the file."""
        with SeenIds() as seen:
            for line, given in self.iterate_given(rows):
                try:
                    probability = self.draw(given)
                    if probability is None:
                        continue
                    record = self.check(given, probability)
                    if self.is_new(seen, record.id, line, given):
                        yield line, record
                except InputError as error:
                    self.refuse(line, error, given)

    def is_new(self, seen: SeenIds, identity: str, line: int, given: Given) -> bool:
        """Whether the id was not seen yet. InputError where it was, of another record; the same again is counted."""
        digest = content_hash(given)
        known = seen.find_or_add(identity, line, digest)
        if known is not None and known.digest != digest:
            raise InputError(
                "the id {identity!r} is on line {row} already",
                field=self.name(["id"]),
                identity=identity,
                row=known.line,
            )
        self.counts["repeated"] += known is not None
        return known is None

    def iterate_given(self, rows: Iterable[TableRow]) -> Iterator[tuple[int, Given]]:
        """Yield line and record as given."""
        for group in iterate_groups(self.mapping, rows):
            line = group[0].line
            self.counts["rows"] += len(group)
            try:
                records = (
                    list(self.format.parse(group[0].values)) if self.format else [build_record(self.mapping, group)]
                )
            except InputError as error:
                self.refuse(line, error, group[0].values)
            except UNREADABLE as error:
                self.refuse(line, self.explain(error), group[0].values)
            else:
                self.counts["records"] += len(records)
                self.counts["empty"] += not records
                yield from ((line, record) for record in records)

    def explain(self, error: Exception) -> InputError:
        """What is wrong with a row that is not of its format."""
        if isinstance(error, KeyError):
            return InputError("has no {args!r}", args=error.args[0])
        title = self.format.title if self.format else _("the mapping")
        if isinstance(error, ValueError):  # the others speak of Python
            return InputError("is not spelt as {title} is: {error}", title=title, error=error)
        return InputError("is not spelt as {title} is", title=title)

    def draw(self, given: Given) -> float | None:
        """The probability with which the draw takes a record; None where it does not take this one."""
        rules = self.mapping.draw
        if rules is None:
            return 1.0
        name, probability = rules.find_probability(given)
        kept = rules.takes(str(given["id"]), probability)
        self.drawn.met[name] += 1
        self.drawn.kept[name] += kept
        return probability if kept else None

    def check(self, given: Given, probability: float) -> Record:
        """The record, checked. InputError names its field, and the column that it comes from."""
        refuse_unstorable(given, lambda path, why: InputError(why, field=self.name(path)))
        try:
            record = self.schema.model_validate(given)
        except ValidationError as error:
            path, message = find_first_problem(error)
            raise InputError(message, field=self.name(path)) from error
        if isinstance(record, DrawnRecord) and probability < 1:
            return record.model_copy(update={"inclusion_probability": record.inclusion_probability * probability})
        return record

    def name(self, path: Iterable[str | int]) -> str | None:
        dotted = to_dotted_path(list(path))
        return dotted and name_place(self.mapping, dotted)

    def refuse(self, line: int, error: InputError, given: object) -> None:
        place = self.file.error(error.message, line=line, field=error.field)
        self.problems.add(place, json.dumps(given, ensure_ascii=False, default=str))

    def to_sentences(self) -> list[str]:
        """What a reader should know, once all rows were read."""
        says = {
            "repeated": _("Rows that repeat an earlier row are imported once: {n:,}."),
            "empty": _("Rows that hold no conversation are left out: {n:,}."),
        }
        said = [says[what].format(n=n) for what, n in self.counts.items() if n and what in says]
        return [*self.drawn.to_sentences(), *said]


def check_rules(rules: DrawingRules | None, kind: str) -> None:
    """Refuse a draw of what has no inclusion probability."""
    if rules is not None and not issubclass(SCHEMAS.get(kind, object), DrawnRecord):
        raise InputError("only dialogues and response pairs can be drawn from", field="draw")


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
        for batch in iterate_batches(records.store_attached(reader.iterate(table.rows), context), BATCH):
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
        raise reader.file.error(
            "no row is a conversation in the format {title}", field="format", title=reader.format.title
        )


def describe_encoding(layout: Layout) -> list[str]:
    """A sentence where the text was not UTF-8, which a reader may have to correct."""
    return (
        [_("Read as {encoding}.").format(encoding=ENCODINGS[layout.encoding])]
        if layout.encoding not in ("", UTF_8)
        else []
    )


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
