"""Evidence: the words of an item that justify a value, as offsets into the text they were marked in.

A mark names a part of the item ("turn-3", "question", "context", "response-1") and counts in characters (Unicode code
points), so that it means the same in every language that reads it. On the page a response is called by its side.
"""

from __future__ import annotations

from annotation.stats.orders import name_parts
from annotation.studies.models.assignments import Assignment
from annotation.studies.queries.items import Highlight, list_texts
from core.errors import InputError
from core.files.json_text import parse_json

MOST = 50
"""Marks for one criterion of one item."""


def check_marks(assignment: Assignment, given: str, criterion: str) -> list[Highlight]:
    """The marks of a criterion, in the order of the text, from JSON as the page sends it.

    Raises InputError, naming the criterion, for what is not a list of marks or lies outside the item.
    """
    if not given:
        return []
    texts = list_texts(assignment.item)
    found = [mark(assignment, one, texts, criterion) for one in parse_marks(given, criterion)]
    places = {name: place for place, name in enumerate(texts)}
    return sorted(found, key=lambda one: (places[one["part"]], one["start"], one["end"]))


def parse_marks(given: str, criterion: str) -> list[object]:
    try:
        marks = parse_json(given)
    except InputError as error:
        raise InputError("The marked words cannot be read.", field=criterion) from error
    if not isinstance(marks, list) or len(marks) > MOST:
        raise InputError("Mark at most {most} passages for one criterion.", field=criterion, most=MOST)
    return marks


def mark(assignment: Assignment, given: object, texts: dict[str, str], criterion: str) -> Highlight:
    wrong = InputError("The marked words are not in this item.", field=criterion)
    if not isinstance(given, dict):
        raise wrong
    part, start, end = (given.get(name) for name in ("part", "start", "end"))
    part = to_stored_side(assignment, str(part))
    if part not in texts or not isinstance(start, int) or not isinstance(end, int):
        raise wrong
    if not 0 <= start < end <= len(texts[part]):
        raise wrong
    return {"part": part, "start": start, "end": end, "text": texts[part][start:end]}


def to_stored_side(assignment: Assignment, part: str) -> str:
    """A side of the screen by the response that was shown there."""
    return name_parts(assignment.order).get(part, part)
