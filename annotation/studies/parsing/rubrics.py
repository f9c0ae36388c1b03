"""A rubric: the criteria that a study asks, as a file, a request or the page that builds them says them.

    name = "Helpfulness"
    kind = "pair"

    [[criterion]]
    key = "helpful"
    type = "ordinal"
    unit = "response"
    question = "How helpful is the response?"

    [[criterion.category]]
    value = "1"
    label = "Not at all"

What is wrong is said at its field: `criterion.helpful.limits.most`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import ErrorDetails

from annotation.studies.parsing.answers import NOTHING
from annotation.studies.parsing.criterion_specs import CriterionSpec, Long, RubricPart, SetLimits
from core.errors import InputError

MOST_CRITERIA = 40


class Rubric(RubricPart):
    """The criteria of a study in the order in which they are asked."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)] = ""
    description: Long = ""
    citation: Long = ""
    kind: Literal["dialogue", "pair"] | None = None
    criteria: Annotated[
        tuple[CriterionSpec, ...],
        Field(min_length=1, max_length=MOST_CRITERIA, validation_alias=AliasChoices("criterion", "criteria")),
    ]

    @model_validator(mode="before")
    @classmethod
    def read_single(cls, given: object) -> object:
        """A file of one criterion has its fields at the top."""
        if not isinstance(given, dict) or "key" not in given:
            return given
        one = {name: value for name, value in given.items() if name not in CriterionSpec.ONLY_TEMPLATES}
        return {"kind": given.get("kind"), "criterion": [one]}


def parse_rubric(document: object) -> Rubric:
    """The rubric that a document is. InputError with the field that is wrong."""
    try:
        rubric = Rubric.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(to_message(first), field=name_field(document, first["loc"])) from error
    check_rubric(rubric)
    return rubric


WORDS = {
    "missing": "is needed",
    "extra_forbidden": "is not a field of a rubric",
    "string_type": "is a text",
    "string_too_short": "is empty",
    "string_too_long": "has more than {max_length} characters",
    "string_pattern_mismatch": "is made of letters without accents, digits, _ and -",
    "too_short": "needs at least {min_length}",
    "too_long": "has at most {max_length}",
    "list_type": "is a list",
    "tuple_type": "is a list",
    "dict_type": "is a table",
    "model_type": "is a table",
    "bool_type": "is true or false",
    "bool_parsing": "is true or false",
    "int_type": "is a whole number",
    "int_parsing": "is a whole number",
    "int_from_float": "is a whole number",
    "float_type": "is a number",
    "float_parsing": "is a number",
    "greater_than": "is above {gt}",
    "greater_than_equal": "is at least {ge}",
    "less_than_equal": "is at most {le}",
    "finite_number": "is a finite number",
    "literal_error": "is {expected}",
}


def to_message(error: ErrorDetails) -> str:
    """A pydantic error in words."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    words = WORDS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else str(error["msg"])


def name_field(document: object, path: Iterable[str | int]) -> str:
    """A path such as criterion.helpful.category.2.label, with criteria by their keys and lists counted from 1."""
    return ".".join(walk_path(document, path)) or "criterion"


def walk_path(document: object, path: Iterable[str | int]) -> Iterator[str]:
    here = document
    for step in path:
        inner = find_step(here, step)
        if isinstance(step, str):
            if step not in ("int", "float"):  # which of two kinds of numbers was tried
                yield step
        elif isinstance(inner, dict) and isinstance(inner.get("key"), str) and inner["key"]:
            yield inner["key"]
        else:
            yield str(step + 1)
        here = inner


def find_step(here: object, step: str | int) -> object:
    """What stands there; None where nothing does."""
    if isinstance(here, dict):
        return here.get(step)
    return here[step] if isinstance(here, list | tuple) and isinstance(step, int) and step < len(here) else None


def check_rubric(rubric: Rubric) -> None:
    """Refuse keys that stand twice, conditions that can never hold, and what the kind of item does not have."""
    keys = [one.key for one in rubric.criteria]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise InputError("another criterion has this key; each needs its own", field=f"criterion.{twice}.key")
    for one in rubric.criteria:
        check_limits(one)
        check_condition(rubric, one)
        if rubric.kind is not None:
            check_kind(one, rubric.kind)


def check_limits(one: CriterionSpec) -> None:
    """Refuse limits that the type does not have, or that no answer keeps to."""
    where = f"criterion.{one.key}.limits"
    try:
        limits = one.read_limits()
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(to_message(first), field=name_field(one.limits, (where, *first["loc"]))) from error
    if isinstance(limits, SetLimits) and max(limits.least, limits.most or 0) > len(one.categories):
        raise InputError(
            "asks for more than the {n_categories} categories", field=where, n_categories=len(one.categories)
        )


def check_condition(rubric: Rubric, one: CriterionSpec) -> None:
    if one.condition is None:
        return
    where = f"criterion.{one.key}.condition"
    by_key = {other.key: other for other in rubric.criteria}
    there = by_key.get(one.condition.criterion)
    if there is None:
        raise InputError("there is no criterion {criterion!r}", field=where, criterion=one.condition.criterion)
    if goes_in_circle(by_key, one):
        raise InputError("goes in a circle: {key} would wait for itself", field=where, key=one.key)
    keys = list(by_key)
    if keys.index(there.key) > keys.index(one.key):
        raise InputError("waits for {key}, which is asked later: move that before it", field=where, key=there.key)
    if there.type not in ("choice", "several"):
        raise InputError("waits for {key}, which has no categories", field=where, key=there.key)
    offered = [*there.values, *([NOTHING] if there.type == "several" and not there.limits.get("least") else [])]
    if never := [value for value in one.condition.values if value not in offered]:
        raise InputError("can never hold: {key} has no value {never!r}", field=where, key=there.key, never=never[0])
    if there.unit not in ("item", one.unit):
        raise InputError(
            "waits for {key}, which is asked of each {unit}",
            field=where,
            key=there.key,
            unit=there.unit.replace("_", " "),
        )


def goes_in_circle(by_key: Mapping[str, CriterionSpec], one: CriterionSpec) -> bool:
    seen: list[str] = []
    here: CriterionSpec | None = one
    while here is not None and here.condition is not None and here.key not in seen:
        seen.append(here.key)
        here = by_key.get(here.condition.criterion)
    return here is not None and here.key in seen


def check_kind(one: CriterionSpec, kind: str) -> None:
    """Refuse a criterion of what items of this kind do not have. InputError with its field."""
    of_turns = one.unit.endswith("_turn")
    where = str(one.limits.get("where", ""))
    if kind == "dialogue" and (one.unit == "response" or one.type == "ranking" or where == "responses"):
        raise InputError("is about responses, and a dialogue has none", field=f"criterion.{one.key}")
    if kind == "pair" and (of_turns or where.endswith("turns")):
        raise InputError("is about turns, and a response pair has none", field=f"criterion.{one.key}")
