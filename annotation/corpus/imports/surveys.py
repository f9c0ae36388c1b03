"""A look at a file before it is imported: its columns, first rows, and what an import by a mapping would refuse."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from django.utils.translation import gettext as _, ngettext

from annotation.corpus.formats.base import ChatFormat
from annotation.corpus.formats.registry import recognise_format
from annotation.corpus.imports.tables import LOOKED_AT, TableRecords, open_checked
from annotation.corpus.parsing.guessing import FoundColumn, find_columns, guess_mapping
from annotation.corpus.parsing.mapped_fields import LABELS
from annotation.corpus.parsing.mappings import ColumnMapping
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.tables.layout import Layout
from core.files.tables.reading import open_table
from core.files.tables.rows import TableRow, find_value, is_blank

MOST_ROWS = 100_000
"""So many rows are checked before an import; the import checks all."""
LISTED = 50
"""Problems that are listed one by one."""
LINES = 5


@dataclass(frozen=True)
class FirstLook:
    """What the first rows of a file tell."""

    layout: Layout
    columns: tuple[FoundColumn, ...]
    rows: tuple[TableRow, ...]
    format: ChatFormat | None
    notes: tuple[str, ...]

    @property
    def guess(self) -> ColumnMapping:
        """The mapping that fits best; a recognised format comes before columns."""
        return ColumnMapping(format=self.format.key) if self.format else guess_mapping(self.columns)


def look(file: InputFile, layout: Layout) -> FirstLook:
    """Read the first rows of a file. InputError where it cannot be read, or has none."""
    problems = Problems("skip")
    with open_table(file, layout, problems) as table:
        rows = tuple(islice(table.rows, LOOKED_AT))
        if not rows and problems.errors:
            raise problems.errors[0]
        if not rows:
            raise file.error("names columns but has no rows")
        notes = tuple(table.notes.to_sentences())
    columns = tuple(find_columns(rows))
    return FirstLook(table.layout, columns, rows, recognise_format([row.values for row in rows[:20]]), notes)


def list_drawable(shown: FirstLook, mapping: ColumnMapping) -> list[str]:
    """The columns that rules of a draw may name: those of the records, as they would be imported."""
    reader = TableRecords(InputFile.from_path(""), mapping, Problems("skip"))
    rows = [TableRow(line, given) for line, given in reader.iterate_given(shown.rows)]
    known = {"turns", "id", "response_1", "response_2", "question", "persona"}
    return [one.path for one in find_columns(rows) if one.path.split(".")[0] not in known]


@dataclass
class Survey:
    """What an import would do with the rows that were checked.

    Attributes
    ----------
    noun
        What the records are called: record or label.
    n_rows, n_records, is_complete
        How many rows were read, how many records they became, and whether these are all rows of the file.
    problems, n_problems
        The first of what would be refused, and how much that is.
    blanks
        Mapped column -> how many rows have nothing there, and the lines of the first.
    notes
        What else there is to know, in sentences.
    """

    noun: str = "record"
    n_rows: int = 0
    n_records: int = 0
    is_complete: bool = True
    problems: list[InputError] = field(default_factory=list)
    n_problems: int = 0
    blanks: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_sentence(self) -> str:
        """What can be imported: `4 records can be imported from 6 rows; 1 row cannot be used.`"""
        says = {
            (True, False): _("{records} can be imported from {rows}."),
            (True, True): _("{records} can be imported from {rows}; {wrong} cannot be used."),
            (False, False): _("{records} can be imported from the first {rows}."),
            (False, True): _("{records} can be imported from the first {rows}; {wrong} cannot be used."),
        }[self.is_complete, bool(self.n_problems)]
        records = ngettext("{n:,} record", "{n:,} records", self.n_records)
        if self.noun == "label":
            records = ngettext("{n:,} label", "{n:,} labels", self.n_records)
        records = records.format(n=self.n_records)
        return says.format(records=records, rows=count_rows(self.n_rows), wrong=count_rows(self.n_problems))


def count_rows(n: int) -> str:
    return ngettext("{n:,} row", "{n:,} rows", n).format(n=n)


@dataclass
class CountedProblems(Problems):
    """Problems of which only the first are kept."""

    n: int = 0

    def add(self, error: InputError, record: bytes | str = b"") -> None:  # noqa: ARG002
        self.n += 1
        if len(self.errors) < LISTED:
            self.errors.append(error)


@dataclass
class WatchedRows:
    """Rows on their way to be read, at most so many, whose blank cells are counted."""

    rows: Iterator[TableRow]
    columns: Sequence[str]
    n: int = 0
    is_complete: bool = True
    blanks: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __iter__(self) -> Iterator[TableRow]:
        for row in self.rows:
            if self.n == MOST_ROWS:
                self.is_complete = False
                return
            self.n += 1
            for column in self.columns:
                if is_blank(find_value(row.values, column)):
                    self.blanks[column] += 1
                    self.lines[column] += [row.line] if len(self.lines[column]) < LINES else []
            yield row


CheckLabels = Callable[[InputFile, ColumnMapping, Iterator[TableRow], Problems], int]
"""Reads labels as an import does, and returns how many there are."""


def survey(file: InputFile, mapping: ColumnMapping, check_labels: CheckLabels) -> Survey:
    """Check the rows of a file by a mapping, without a database. InputError where the mapping does not fit the file."""
    problems = CountedProblems("skip")
    with open_checked(file, mapping, problems) as table:
        watched = WatchedRows(table.rows, list(mapping.columns.values()))
        found = Survey()
        if mapping.kind in LABELS:
            found.noun = "label"
            found.n_records = check_labels(file, mapping, iter(watched), problems)
        else:
            reader = TableRecords(file, mapping, problems)
            found.n_records = sum(1 for _ in reader.iterate(watched))
            found.notes = reader.to_sentences()
        found.n_rows, found.is_complete = watched.n, watched.is_complete
        found.blanks = {name: (n, tuple(watched.lines[name])) for name, n in watched.blanks.items()}
        found.problems, found.n_problems = problems.errors, problems.n
        found.notes = [*table.notes.to_sentences(), *found.notes]
    if not found.n_rows and not found.n_problems:
        raise file.error("names columns but has no rows")
    return found
