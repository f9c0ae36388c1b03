"""Labels in a long table: item, rater, criterion, value; one label on each line of a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.stats.orders import is_order
from core.csv_files import restore_formula
from core.errors import InputError
from core.files.input_files import DOCUMENT_LIMIT, MEGABYTE, InputFile, Problems, Source, not_utf8, unreadable

COLUMNS = ("item", "rater", "criterion", "value", "reason", "order", "repeat", "explanation", "turn", "content")
LAST_TURN = 32_767
OTHER_NAMES = {
    "item": {"id", "item_id", "task_id", "example_id", "sample_id", "dialogue_id", "dialogue", "pair", "instance_id"},
    "rater": {"annotator", "annotator_id", "rater_id", "worker", "worker_id", "user", "user_id", "coder", "person"},
    "value": {"label", "rating", "score", "answer", "annotation", "response", "category", "judgment", "judgement"},
}
"""What other tools call the needed columns, for a hint."""
LONGEST = {"item": 250, "rater": 100, "criterion": 60, "value": 400, "reason": 40}


@dataclass(frozen=True, slots=True)
class Rating:
    """A line of a file or a row of a request. An empty value is no label of a person, and an unscored item of a judge.

    `turn` is the turn or response that was rated, from 1; 0 for the whole item. `content` is that of spans, texts and
    rewrites, as JSON.
    """

    line: int
    item: str
    rater: str
    criterion: str
    value: str
    reason: str = ""
    order: str = ""
    repeat: int = 1
    explanation: str = ""
    turn: int = 0
    content: str = ""


CellRow = tuple[int, list[str]]
"""Line and cells of a row."""


class Table(NamedTuple):
    """The labels of a file, and the names of the columns that were not read."""

    ratings: list[Rating]
    unused: list[str]


def read_ratings(
    file: InputFile, problems: Problems, *, of_judge: bool, rows: Iterator[CellRow] | None = None
) -> Table:
    """All labels in the rows of a CSV file, or in `rows`; the first row names the columns. A person's label needs a
    rater, a judge's does not."""
    rows = read_rows(file) if rows is None else rows
    line, header = next(rows, (1, []))
    names = [name.strip().lower() for name in header]
    needed = ("item", "value") if of_judge else ("item", "rater", "value")
    check_columns(file, line, names, needed)
    ratings: list[Rating] = []
    seen: dict[tuple[str | int, ...], int] = {}
    for line, cells in rows:
        try:
            rating = check_row(file, line, names, cells, needed)
            refuse_second(file, seen, rating, of_judge=of_judge)
        except InputError as error:
            problems.add(error, ",".join(cells))
        else:
            ratings.append(rating)
    if not ratings and not problems.errors:
        raise file.error("holds no ratings")
    return Table(ratings, [name for name in names if name not in COLUMNS])


def check_columns(file: InputFile, line: int, names: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a header that lacks a needed column, and say what it has and which column may be meant."""
    missing = [name for name in needed if name not in names]
    if not missing:
        return
    meant = [(name, column) for name in missing for column in names if column in OTHER_NAMES[name]]
    hint = "".join(f" If {column!r} is the {name}, rename it, or map the columns." for name, column in meant)
    if not meant and "item" in names:
        hint = " If each rater has a column, as in a wide table, write one label a line: item, rater, criterion, value."
    said = f"has no column {missing[0]!r}; it has {', '.join(names) or 'none'}.{hint}"
    raise file.error(said, line=line, field=missing[0])


def read_rows(file: InputFile) -> Iterator[CellRow]:
    """Line number and cells of every row that is not blank; the first one is the header."""
    try:
        size = file.path.stat().st_size
        if size > DOCUMENT_LIMIT:
            raise file.error(f"is {size // MEGABYTE} MB, and a table may have {DOCUMENT_LIMIT // MEGABYTE} MB")
        with file.path.open(encoding="utf-8-sig", newline="") as stream:
            first = stream.readline()
            if not first.strip():
                raise file.error("is empty")
            stream.seek(0)
            reader = csv.reader(stream, delimiter=delimiter(first), strict=True)
            start = 1
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield start, cells
                start = reader.line_num + 1
    except OSError as error:
        raise unreadable(file, error) from error
    except UnicodeDecodeError as error:
        message, line = not_utf8(file.path.read_bytes()) or (str(error), 1)
        raise file.error(message, line=line) from error
    except csv.Error as error:
        raise file.error(f"not CSV: {error}", line=start) from error


def delimiter(header: str) -> str:
    """A comma, or what spreadsheets write in its place: a semicolon or a tab."""
    return max(",;\t", key=header.count)


def check_row(file: InputFile, line: int, names: list[str], cells: list[str], needed: tuple[str, ...]) -> Rating:
    if len(cells) != len(names):
        raise file.error(f"has {len(cells)} cells where the header has {len(names)}", line=line)
    given = {name: restore_formula(cell.strip()) for name, cell in zip(names, cells, strict=True) if name in COLUMNS}
    for name in needed:
        if not given[name] and name != "value":
            raise file.error("is empty", line=line, field=name)
    for name, longest in LONGEST.items():
        if len(given.get(name, "")) > longest:
            raise file.error(f"is longer than {longest} characters", line=line, field=name)
    order, repeat = given.get("order", "").upper(), given.get("repeat", "") or "1"
    if order and not is_order(order):
        raise file.error(f"is AB, BA, an order such as CAB, or empty, not {given['order']!r}", line=line, field="order")
    if not is_number(repeat) or not 1 <= int(repeat) <= 1000:
        raise file.error(f"is a number from 1 to 1000, not {repeat!r}", line=line, field="repeat")
    turn = given.get("turn", "") or "0"
    if not is_number(turn) or int(turn) > LAST_TURN:
        raise file.error(f"is the number of a turn, from 1, or empty, not {turn!r}", line=line, field="turn")
    return Rating(
        line=line,
        item=given["item"],
        rater=given.get("rater", ""),
        criterion=given.get("criterion", ""),
        value=given["value"],
        reason=given.get("reason", ""),
        order=order,
        repeat=int(repeat),
        explanation=given.get("explanation", ""),
        turn=int(turn),
        content=given.get("content", ""),
    )


def drop_seconds(source: Source, ratings: Iterable[Rating], problems: Problems) -> list[Rating]:
    """The labels of a request, each of which says something else."""
    kept, seen = [], dict[tuple[str | int, ...], int]()
    for rating in ratings:
        try:
            refuse_second(source, seen, rating, of_judge=False)
        except InputError as error:
            problems.add(error, repr(rating))
        else:
            kept.append(rating)
    return kept


def refuse_second(source: Source, seen: dict[tuple[str | int, ...], int], rating: Rating, *, of_judge: bool) -> None:
    """Raise if the same rater has rated the same before; remember it otherwise."""
    key = (
        rating.item,
        rating.criterion,
        rating.turn,
        *((rating.order, rating.repeat) if of_judge else (rating.rater,)),
    )
    first = seen.setdefault(key, rating.line)
    if first != rating.line:
        raise source.error(f"repeats {source.describe_line(first)}", line=rating.line, field="item")


def is_number(text: str) -> bool:
    """Whether it is a whole number that is read without effort."""
    return text.isascii() and text.isdecimal() and len(text) < 10
