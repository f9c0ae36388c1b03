"""What the rows of a rating table are called: an item by its position, a turn of it by position and turn, "17.3"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.stats.table import IntArray

TURNS = 2**16
"""More than a dialogue can have: the number of a turn is a small integer in the database."""


def unit(position: int, turn: int = 0) -> str:
    """The name of a row; turn 0 is the whole item."""
    return f"{position}.{turn}" if turn else str(position)


def to_position(name: str) -> int:
    """The item's position in the study."""
    return int(name.partition(".")[0])


def to_turn(name: str) -> int:
    """The turn, from 1; 0 for the whole item."""
    return int(name.partition(".")[2] or 0)


def number_units(positions: IntArray, turns: IntArray) -> IntArray:
    """One number for each row, in the order of items and turns."""
    return positions * TURNS + turns


def build_names(numbers: IntArray) -> list[str]:
    """The names of rows that are told by their numbers."""
    if not (numbers % TURNS).any():
        return list(map(str, (numbers // TURNS).tolist()))
    return [unit(*divmod(number, TURNS)) for number in numbers.tolist()]


def parse_names(names: Sequence[str]) -> IntArray:
    """The numbers of rows that are told by their names."""
    if not any("." in name for name in names):
        return np.fromiter(map(int, names), dtype=np.int64, count=len(names)) * TURNS
    both = [(to_position(name), to_turn(name)) for name in names]
    return np.array([position * TURNS + turn for position, turn in both], dtype=np.int64)
