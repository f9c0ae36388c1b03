"""Ratings in a CSV file, long or wide, as a rating table.

Long files have the columns `item`, `rater` and `value`, one row per rating. Wide files have the column `item` and one
column per rater. Either may have further columns that describe the item: in a long file all others, in a wide file
those that are named. An empty cell is a missing rating. Comma, semicolon and tab are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.stats.label_sets import parse_set
from annotation.stats.labels import KEYS, RANKING, Coder, infer_scale, is_missing, parse_number
from annotation.stats.rankings import check_responses, responses_of
from annotation.stats.table import Level, RatingTable
from annotation.studies.parsing.label_files import ITEM, LabelFileRow, read_rows
from core.errors import InputError

RATER, VALUE = "rater", "value"


@dataclass(frozen=True)
class RatingsFile:
    """A file's ratings, and what else it says of the items.

    Attributes
    ----------
    table
        All raters, judges included.
    empty
        Item and rater of the cells that are there but empty.
    described
        By further column: its entry for each item, in the order of the table.
    """

    table: RatingTable
    empty: frozenset[tuple[str, str]]
    described: Mapping[str, tuple[str, ...]]

    def column(self, name: str) -> tuple[str, ...]:
        """The entries of a further column. Raises InputError where the file has no such column."""
        if name not in self.described:
            known = f"it describes items by {', '.join(self.described)}" if self.described else "it has no other column"
            raise InputError("there is no column {name!r} besides the ratings; {known}", name=name, known=known)
        return self.described[name]


@dataclass(frozen=True)
class FileRating:
    """One cell that holds a rating, or is empty, in this column."""

    line: int
    item: str
    rater: str
    value: str
    column: str


def read(
    path: Path, *, level: Level = "nominal", categories: Sequence[str] | None = None, describing: Sequence[str] = ()
) -> RatingsFile:
    """The ratings of a file.

    Parameters
    ----------
    path
        A CSV file in UTF-8.
    level
        Of the scale.
    categories
        The scale in order; where it is not given, the values that occur. Of rankings the responses that each has to
        rank; where they are not given, those of the first.
    describing
        Columns of a wide file that describe the item and are no raters.

    Raises
    ------
    InputError
        Naming line and column, where the file cannot be read or understood.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            columns, rows = read_rows(file, _check_item_column)
        _check_items(rows)
        _check_columns(columns, describing)
        return _ratings_file(columns, rows, level, categories, describing)
    except InputError as error:
        raise InputError(error.message, file=str(path), line=error.line, field=error.field) from error
    except OSError as error:
        raise InputError("cannot be read: {strerror}", file=str(path), strerror=error.strerror) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text in UTF-8", file=str(path)) from error


def _check_columns(columns: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in columns:
            raise InputError(
                "there is no such column; there are {columns}", line=1, field=name, columns=", ".join(columns)
            )


def _check_item_column(columns: Sequence[str]) -> None:
    if ITEM not in columns:
        raise InputError("the first line must name the columns, and one of them {item!r}", line=1, item=ITEM)


def _check_items(rows: Sequence[LabelFileRow]) -> None:
    for row in rows:
        if not row.cells[ITEM]:
            raise InputError("is empty", line=row.line, field=ITEM)


def _ratings_file(
    columns: Sequence[str],
    rows: Sequence[LabelFileRow],
    level: Level,
    categories: Sequence[str] | None,
    describing: Sequence[str],
) -> RatingsFile:
    is_long = {RATER, VALUE} <= set(columns)
    others = (
        [c for c in columns if c not in (ITEM, RATER, VALUE)] if is_long else [c for c in describing if c in columns]
    )
    ratings = _long(rows) if is_long else _wide(rows, [c for c in columns if c != ITEM and c not in others])
    described = {name: _described(rows, name) for name in others}
    empty = frozenset((rating.item, rating.rater) for rating in ratings if not rating.value)
    return RatingsFile(_table(ratings, level, categories), empty, described)


def _long(rows: Sequence[LabelFileRow]) -> list[FileRating]:
    for row in rows:
        if not row.cells[RATER]:
            raise InputError("is empty", line=row.line, field=RATER)
    return [FileRating(row.line, row.cells[ITEM], row.cells[RATER], row.cells[VALUE], VALUE) for row in rows]


def _wide(rows: Sequence[LabelFileRow], raters: Sequence[str]) -> list[FileRating]:
    if not raters:
        raise InputError("there is no column of ratings", line=1)
    return [FileRating(row.line, row.cells[ITEM], rater, row.cells[rater], rater) for row in rows for rater in raters]


def _described(rows: Sequence[LabelFileRow], name: str) -> tuple[str, ...]:
    """The column's entry for each item; rows of one item have to say the same."""
    entries: dict[str, str] = {}
    for row in rows:
        known = entries.setdefault(row.cells[ITEM], row.cells[name])
        if known != row.cells[name]:
            raise InputError(
                "differs from {known!r}, said of the same item before", line=row.line, field=name, known=known
            )
    return tuple(entries.values())


def _table(ratings: Sequence[FileRating], level: Level, categories: Sequence[str] | None) -> RatingTable:
    if not ratings:
        raise InputError("there are no ratings", line=2)
    _check_once(ratings)
    _check_values(ratings, level, categories)
    try:
        told = tuple(categories) if categories and level not in KEYS else ()
        scale = told or infer_scale((rating.value for rating in ratings), level)
        return RatingTable.from_long(
            [rating.item for rating in ratings],
            [rating.rater for rating in ratings],
            [rating.value for rating in ratings],
            categories=scale,
            level=level,
        )
    except ValueError as error:  # what concerns the scale as a whole: no line is to blame
        raise InputError(str(error)) from error


def _check_once(ratings: Sequence[FileRating]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for rating in ratings:
        before = seen.setdefault((rating.item, rating.rater), rating.line)
        if before != rating.line:
            raise InputError(
                "{rater!r} has rated item {item!r} before, in line {before}",
                line=rating.line,
                rater=rating.rater,
                item=rating.item,
                before=before,
            )


def _check_values(ratings: Sequence[FileRating], level: Level, categories: Sequence[str] | None) -> None:
    if level == RANKING:
        _check_rankings(ratings, categories)
        return
    if level in KEYS:
        _check_labels(ratings, level, categories)
        return
    coder = Coder(categories) if categories else None
    for rating in ratings:
        try:
            numeric = is_missing(rating.value) or parse_number(rating.value) is not None
            if coder is not None:
                coder.code(rating.value)
        except ValueError as error:
            raise InputError(str(error), line=rating.line, field=rating.column) from error
        if level in ("interval", "ratio") and not numeric and coder is None:
            raise InputError(
                "{value!r} is not a number, and level {level} needs one",
                line=rating.line,
                field=rating.column,
                value=rating.value,
                level=level,
            )


def _check_labels(ratings: Sequence[FileRating], level: Level, options: Sequence[str] | None) -> None:
    """Every value has to be a label of the level; of a set, of the options that are given."""
    for rating in ratings:
        if is_missing(rating.value):
            continue
        try:
            KEYS[level](rating.value)
        except ValueError as error:
            raise InputError(str(error), line=rating.line, field=rating.column) from error
        if level == "set" and options and (unknown := sorted(parse_set(rating.value) - set(options))):
            known = ", ".join(options)
            raise InputError(
                "{unknown!r} is not among {known}",
                line=rating.line,
                field=rating.column,
                unknown=unknown[0],
                known=known,
            )


def _check_rankings(ratings: Sequence[FileRating], responses: Sequence[str] | None) -> None:
    """Every ranking has to be of the same responses."""
    for rating in ratings:
        if is_missing(rating.value):
            continue
        try:
            responses = responses or responses_of(rating.value)
            check_responses(rating.value, responses)
        except ValueError as error:
            raise InputError(str(error), line=rating.line, field=rating.column) from error
