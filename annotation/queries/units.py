"""What the rows of a rating table are called: an item by its position, a turn of it by position and turn, "17.3"."""

from __future__ import annotations


def unit(position: int, turn: int = 0) -> str:
    """The name of a row; turn 0 is the whole item."""
    return f"{position}.{turn}" if turn else str(position)


def position_of(name: str) -> int:
    """The item's position in the study."""
    return int(name.partition(".")[0])


def turn_of(name: str) -> int:
    """The turn, from 1; 0 for the whole item."""
    return int(name.partition(".")[2] or 0)
