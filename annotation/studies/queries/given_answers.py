"""Answers as an annotator gives them, checked against what is asked and turned into what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from django.utils.translation import gettext as _

from annotation.stats.orders import TIE, to_response
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import is_unchanged, parse_answer
from annotation.studies.queries.answer_formats import build_format, to_stored
from annotation.studies.queries.asks import Ask, asks_strength, is_met, is_preference, to_condition
from core.errors import InputError

STRENGTHS = ("slightly", "much")
LONGEST_REASON = 200
"""Characters of the reason why something could not be judged."""


@dataclass(frozen=True)
class GivenAnswer:
    """A value with what does not fit there, or the reason why there is none."""

    value: str = ""
    unscored_reason: str = ""
    strength: str = ""
    content: object = None


def check_answers(
    assignment: Assignment,
    asked: Sequence[Ask],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
) -> dict[str, GivenAnswer]:
    """Return the answers to what is asked and has one, by name; InputError with that name as its field otherwise."""
    known = {ask.name for ask in asked}
    for key, text in chain(values.items(), unscored.items(), notes.items()):
        if "\0" in text:
            raise InputError("Null characters are not allowed.", field=key)
    if unknown := sorted((values.keys() | unscored.keys() | notes.keys()) - known):
        raise InputError("This study has no such criterion.", field=unknown[0])
    found, wrong = check_each(assignment, asked, values, unscored, notes)
    if wrong:
        raise wrong[0]
    return found


def check_each(
    assignment: Assignment,
    asked: Sequence[Ask],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
) -> tuple[dict[str, GivenAnswer], list[InputError]]:
    """Return the answers that can be stored, by name, and what is wrong with others, with their names as fields."""
    found, wrong = {}, []
    for ask in list_due(assignment, asked, values):
        given, reason = values.get(ask.name, ""), unscored.get(ask.name, "").strip()
        try:
            if one := answer(assignment, ask, given, reason, note=notes.get(ask.name, "")):
                found[ask.name] = one
        except InputError as error:
            wrong.append(error)
    return found, wrong


def list_due(assignment: Assignment, asked: Sequence[Ask], values: Mapping[str, str]) -> list[Ask]:
    """Return those whose condition is met: by an answer to an ask that is itself due."""
    by_name = {ask.name: ask for ask in asked}

    def is_due(ask: Ask) -> bool:
        condition = to_condition(assignment, ask)
        if condition is None:
            return True
        return is_met(condition, values) and is_due(by_name[condition["name"]])

    return [ask for ask in asked if is_due(ask)]


def answer(assignment: Assignment, ask: Ask, given: str, reason: str, *, note: str) -> GivenAnswer | None:
    """Return the answer; None where none is given and none is needed."""
    if given and reason:
        raise InputError(
            "{title}: choose a value or say why you cannot judge, not both.", field=ask.name, title=ask.title
        )
    if reason:
        if len(reason) > LONGEST_REASON:
            raise InputError("Say it in at most {most} characters.", field=ask.name, most=LONGEST_REASON)
        return GivenAnswer(unscored_reason=reason)
    if is_preference(assignment.study, ask.criterion) and given:
        side, strength = split_strength(assignment, ask, given)
        return GivenAnswer(value=to_stored_response(assignment, ask, side), strength=strength)
    return read_answer(assignment, ask, given, note)


def read_answer(assignment: Assignment, ask: Ask, given: str, note: str) -> GivenAnswer | None:
    """Read an answer of any type. A rewrite that is still as the page showed it is none."""
    asked = build_format(assignment, ask)
    if not given.strip() or is_unchanged(asked, given):
        if ask.criterion.is_required:
            raise InputError("{title} has no answer yet.", field=ask.name, title=ask.title)
        if note.strip():
            raise InputError(
                "{title} has a note and no answer: give one, or say why you cannot.", field=ask.name, title=ask.title
            )
        return None
    try:
        found = to_stored(assignment, ask, parse_answer(asked, given))
    except InputError as error:
        wrong = _("%(given)r is not on the scale of %(title)s.") % {"given": given, "title": ask.title}
        said = wrong if asked.type == Criterion.Type.CHOICE else f"{ask.title}: {error.message}"
        raise InputError(said, field=ask.name) from error
    return GivenAnswer(value=found.value, content=found.content)


def split_strength(assignment: Assignment, ask: Ask, given: str) -> tuple[str, str]:
    """Return what was chosen and how strongly: "A:much" is A, much. A tie has no strength."""
    if not asks_strength(assignment) or given == TIE:
        return given, ""
    side, _separator, strength = given.partition(":")
    if strength not in STRENGTHS or side not in assignment.sides:
        raise InputError("Say whether it is much or slightly better.", field=ask.name)
    return side, strength


def to_stored_response(assignment: Assignment, ask: Ask, given: str) -> str:
    """Return the category of a preference that is meant: the response that was shown on the side chosen."""
    if not assignment.order:
        raise InputError("It is not known which response was shown on which side.", field=ask.name)
    if given not in (*assignment.sides, TIE):
        raise InputError(
            "Choose {sides} or, where it is offered, a tie.", field=ask.name, sides=", ".join(assignment.sides)
        )
    value = to_response(given, assignment.order)
    if value not in ask.criterion.values:
        raise InputError("{given!r} is not on the scale of {title}.", field=ask.name, given=given, title=ask.title)
    return value
