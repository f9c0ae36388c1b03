"""In which order the responses of an item are shown: places A, B, C, … and responses 1, 2, 3, …. Pure functions.

An order spells by letters which response stands at each place: of the order `CAB` the first place, A, shows response 3,
B shows response 1 and C shows response 2. `AB` and `BA` are the two orders of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LETTERS = "ABCDEFGHIJKL"
"""Of the places, from the left; and of the responses in an order."""

MOST = len(LETTERS)
"""Responses that an item has at most."""

TIE = "tie"


def is_order(text: str) -> bool:
    """Whether it spells an order of one response or more."""
    return bool(text) and "".join(sorted(text)) == LETTERS[: len(text)]


def is_straight(order: str) -> bool:
    """Whether the responses stand in the order of their numbers."""
    return order == LETTERS[: len(order)]


def list_places(order: str) -> dict[str, str]:
    """The number of the response at each place, from the left; none of an empty order.

    >>> list_places("CAB")
    {'A': '3', 'B': '1', 'C': '2'}
    """
    return {place: str(LETTERS.index(letter) + 1) for place, letter in zip(LETTERS, order, strict=False)}


def list_shown(order: str) -> dict[str, str]:
    """The place at which each response is shown, by its number.

    >>> list_shown("CAB")
    {'3': 'A', '1': 'B', '2': 'C'}
    """
    return {number: place for place, number in list_places(order).items()}


def spell_order(numbers: Sequence[int]) -> str:
    """The order in which responses of these numbers (from 1) stand, from the left."""
    return "".join(LETTERS[number - 1] for number in numbers)


def name_responses(values: Sequence[str]) -> list[str]:
    """The values that name responses where all do, from "1" to the last, or are a tie; an empty list otherwise."""
    named = [value for value in values if value != TIE]
    wanted = {str(number) for number in range(1, len(named) + 1)}
    return named if len(named) > 1 and set(named) == wanted else []


def to_place(value: str, order: str) -> str:
    """A stored value as it is shown: a response by its place, all else as it is."""
    return list_shown(order).get(value, value)


def to_response(place: str, order: str) -> str:
    """The response that stands at a place, by its number; all else as it is."""
    return list_places(order).get(place, place)


def name_parts(order: str) -> Mapping[str, str]:
    """The names of responses as parts of an item (`response-3`), by the places at which they are shown."""
    return {place: f"response-{number}" for place, number in list_places(order).items()}
