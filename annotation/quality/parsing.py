"""A CSV file of right answers: one row per item and criterion, with columns item_id, criterion, value and explanation.

A value may name further ones that are right as well, after a bar: 3|4. The explanation may be missing. Where a
criterion is asked of turns or responses, a column turn holds the number of the turn or response.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annotation.studies.parsing import label_files
from core.errors import InputError

COLUMNS = ("item_id", "criterion", "value")
MOST_DIGITS = 6


@dataclass(frozen=True)
class GoldQuestionRow:
    """One right answer, with the line that it stands in. `values` holds one or more; `turn` is 0 for the whole item."""

    line: int
    item: str
    criterion: str
    values: tuple[str, ...]
    explanation: str
    turn: int = 0

    @property
    def ask(self) -> str:
        """What it answers, as the rating page calls it."""
        return f"{self.criterion}.{self.turn}" if self.turn else self.criterion


def read(path: Path, name: str | None = None) -> list[GoldQuestionRow]:
    """The rows of a file that its giver knows as `name`. Raises InputError, naming file, line and column."""
    try:
        return _checked([_row(row) for row in label_files.read(path, COLUMNS).rows])
    except InputError as error:
        raise InputError(error.message, file=name or str(path), line=error.line, field=error.field) from error


def _row(row: label_files.LabelFileRow) -> GoldQuestionRow:
    for column in COLUMNS:
        if not row.cells[column]:
            raise InputError("is empty", line=row.line, field=column)
    turn, cells = row.cells.get("turn", ""), row.cells
    return GoldQuestionRow(
        row.line,
        cells["item_id"],
        cells["criterion"],
        parse_values(cells["value"]),
        cells.get("explanation", ""),
        parse_turn(turn, row.line) if turn else 0,
    )


def parse_values(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


def parse_turn(text: str, line: int | None) -> int:
    """The number of a turn or response."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and int(text)):
        raise InputError(
            "{text!r} is not the number of a turn or response, from 1", line=line, field="turn", text=text[:20]
        )
    return int(text)


def group_by_turn(text: str) -> dict[int, tuple[tuple[str, ...], str]]:
    """By turn or response, its right values and why, of lines as "3: 4|5; It asks back." InputError names the line."""
    found: dict[int, tuple[tuple[str, ...], str]] = {}
    for line, written in enumerate(text.splitlines(), start=1):
        if not written.strip():
            continue
        number, colon, rest = written.partition(":")
        value, _, why = rest.partition(";")
        if not colon or not value.strip():
            raise InputError("write a line as “3: 4”, or “3: 4; why”", line=line, field="turn")
        turn = parse_turn(number.strip(), line)
        if turn in found:
            raise InputError("{turn} stands there twice", line=line, field="turn", turn=turn)
        found[turn] = (parse_values(value), why.strip())
    return found


def _checked(rows: list[GoldQuestionRow]) -> list[GoldQuestionRow]:
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        before = seen.setdefault((row.item, row.ask), row.line)
        if before != row.line:
            raise InputError(
                "{ask} of {item} stands in line {before} already",
                line=row.line,
                field="criterion",
                ask=row.ask,
                item=row.item,
                before=before,
            )
    return rows
