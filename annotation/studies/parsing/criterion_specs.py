"""One criterion of a rubric, checked by itself: what is asked, of which unit, and which answers its type takes."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from annotation.stats.labels import parse_number
from annotation.stats.table import check_numbers
from annotation.studies.parsing.answers import JOINED_BY, LONGEST_TEXT, LONGEST_VALUE, NOTHING

MOST_CATEGORIES = 60
STEPS = (2, 11)
"""Fewest and most steps of an ordered scale."""

LONGEST_GUIDELINE = 50_000

YES_NO = ({"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"})

Unit = Literal["item", "assistant_turn", "user_turn", "response"]


def spell_value(given: object) -> object:
    """A category's value as text: files spell 1, 2, 3 as numbers and true as a truth."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, int | float):
        return f"{given:g}" if float(given) == given and abs(given) < 1e6 else str(given)
    return given


def refuse_null(text: str) -> str:
    """No database keeps them."""
    if "\0" in text:
        raise ValueError("holds a character that cannot be kept")
    return text


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Long = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_GUIDELINE)]
Value = Annotated[
    str, BeforeValidator(spell_value), StringConstraints(strip_whitespace=True, min_length=1, max_length=64)
]
Key = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[a-zA-Z0-9_][a-zA-Z0-9_-]*$")
]


class RubricPart(BaseModel):
    """A table of a rubric: unknown names in it are refused, as they are slips."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, frozen=True)

    @field_validator("*")
    @classmethod
    def refuse_null_characters(cls, value: object) -> object:
        return refuse_null(value) if isinstance(value, str) else value


class CategorySpec(RubricPart):
    """A possible answer: how it is stored, what it is called, and when it applies."""

    value: Value
    label: Line
    guideline: Long = ""

    @model_validator(mode="before")
    @classmethod
    def name_by_value(cls, given: object) -> object:
        """A category without a label is called what its value is."""
        if isinstance(given, str | int | float):
            return {"value": given, "label": str(spell_value(given))}
        if isinstance(given, dict) and "value" in given and "label" not in given:
            return {**given, "label": str(spell_value(given["value"]))}
        return given


PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/webp": b"RIFF"}
"""Kinds of pictures, and how their content begins."""

LONGEST_IMAGE = 300_000
"""Characters of a picture as a data URI."""


class Example(RubricPart):
    """An answer to copy, or to avoid; with a picture as a data URI, which needs no other place to be fetched from."""

    good: bool = True
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5000)]
    image: Annotated[str, Field(max_length=LONGEST_IMAGE)] = ""

    @field_validator("image")
    @classmethod
    def check_image(cls, given: str) -> str:
        if not given:
            return given
        head, _, data = given.partition(";base64,")
        begins = PICTURES.get(head.removeprefix("data:"))
        try:
            content = b64decode(data, validate=True)
        except ValueError:
            content = b""
        if not head.startswith("data:") or begins is None or not content.startswith(begins):
            raise ValueError("is a data URI of a PNG, JPEG or WebP picture: data:image/png;base64,…")
        return given


class Condition(RubricPart):
    """The criterion is asked only if an earlier one has one of the values."""

    criterion: Key
    values: Annotated[tuple[Value, ...], Field(min_length=1, max_length=MOST_CATEGORIES)]


class Limits(RubricPart):
    """What answers of a type are taken."""

    def to_json(self) -> dict[str, object]:
        """What is said, and nothing else."""
        return self.model_dump(mode="json", exclude_defaults=True)


class NoLimits(Limits):
    """A choice has none."""


Number = Annotated[int | float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]


class NumberLimits(Limits):
    least: Number | None = None
    most: Number | None = None
    step: Annotated[int | float, Field(gt=0, le=1e15, allow_inf_nan=False)] | None = None
    unit: Annotated[str, StringConstraints(strip_whitespace=True, max_length=20)] = ""
    slider: bool = False

    @model_validator(mode="after")
    def check_bounds(self) -> Self:
        if self.least is not None and self.most is not None and self.least >= self.most:
            raise ValueError(f"the least value, {self.least}, is not below the most, {self.most}")
        if self.slider and (self.least is None or self.most is None):
            raise ValueError("a slider needs the least and the most value")
        if self.step and self.least is not None and self.most is not None and self.step > self.most - self.least:
            raise ValueError(f"a step of {self.step} is wider than the range from {self.least} to {self.most}")
        return self


class SetLimits(Limits):
    least: Annotated[int, Field(ge=0, le=MOST_CATEGORIES)] = 0
    most: Annotated[int, Field(ge=1, le=MOST_CATEGORIES)] | None = None

    @model_validator(mode="after")
    def check_bounds(self) -> Self:
        if self.most is not None and self.least > self.most:
            raise ValueError(f"at least {self.least} and at most {self.most} cannot both hold")
        return self


class RankingLimits(Limits):
    ties: bool = False
    best_worst: bool = False

    @model_validator(mode="after")
    def check_one(self) -> Self:
        if self.ties and self.best_worst:
            raise ValueError("best and worst are asked for, or a ranking that may have ties, not both")
        return self


class SpanLimits(Limits):
    where: Literal["", "turns", "responses", "user_turns", "assistant_turns"] = ""
    severities: Annotated[tuple[Value, ...], Field(max_length=6)] = ()

    @field_validator("severities")
    @classmethod
    def check_severities(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if given and (len(set(given)) < 2 or len(set(given)) < len(given)):
            raise ValueError("two severities or more, each once")
        if any("/" in one or JOINED_BY in one for one in given):
            raise ValueError(f"a severity holds no / and no {JOINED_BY}")
        return given


class TextLimits(Limits):
    longest: Annotated[int, Field(ge=1, le=LONGEST_TEXT)] | None = None


@dataclass(frozen=True)
class AnswerType:
    """What a criterion of a type may say: its levels, the usual one first, and its limits.

    `n_categories` is how many it needs at least; 0 where it has none. `units` are what it is asked of, where it is
    not asked of everything.
    """

    levels: tuple[str, ...]
    limits: type[Limits] = NoLimits
    n_categories: int = 0
    units: tuple[str, ...] = ()


ANSWER_TYPES: Mapping[str, AnswerType] = {
    "choice": AnswerType(("nominal", "ordinal", "interval", "ratio"), n_categories=2),
    "number": AnswerType(("interval", "ratio"), NumberLimits),
    "several": AnswerType(("set",), SetLimits, n_categories=2),
    "ranking": AnswerType(("ranking",), RankingLimits, units=("item",)),
    "spans": AnswerType(("spans",), SpanLimits, n_categories=1),
    "text": AnswerType(("text",), TextLimits),
    "rewrite": AnswerType(("text",), TextLimits, units=("response", "assistant_turn", "user_turn")),
}

NAMES_OF_TYPES = {
    **{name: (name, one.levels[0]) for name, one in ANSWER_TYPES.items()},
    "binary": ("choice", "nominal"),
    "ordinal": ("choice", "ordinal"),
    "multi_choice": ("several", "set"),
    "span": ("spans", "spans"),
}
"""What a file may call a type -> the type, and its level where none is given."""


class CriterionSpec(RubricPart):
    """One criterion of a rubric, checked by itself."""

    key: Key
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)] = ""
    type: str = "choice"
    level: str = ""
    unit: Unit = "item"
    question: Question
    help: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)] = ""
    guideline: Long = ""
    categories: Annotated[
        tuple[CategorySpec, ...],
        Field(max_length=MOST_CATEGORIES, validation_alias=AliasChoices("category", "categories")),
    ] = ()
    limits: dict[str, object] = Field(default_factory=dict)
    is_required: Annotated[bool, Field(validation_alias=AliasChoices("required", "is_required"))] = True
    condition: Condition | None = None
    examples: Annotated[
        tuple[Example, ...], Field(max_length=20, validation_alias=AliasChoices("example", "examples"))
    ] = ()

    ONLY_TEMPLATES: ClassVar[frozenset[str]] = frozenset({"kind", "turn", "tie", "is_default"})

    @model_validator(mode="before")
    @classmethod
    def read_type(cls, given: object) -> object:
        """The type by one of its names, with the level, the name and the categories that go without saying."""
        if not isinstance(given, dict):
            return given
        called = given.get("type", "choice")
        if called not in NAMES_OF_TYPES:
            return given
        kind, level = NAMES_OF_TYPES[called]
        there = {**given, "type": kind, "level": given.get("level") or level}
        there.setdefault("name", str(given.get("key", "")).replace("_", " ").capitalize())
        if called == "binary" and not ({"category", "categories"} & given.keys()):
            there["category"] = YES_NO
        return there

    @field_validator("type")
    @classmethod
    def check_type(cls, given: str) -> str:
        if given not in ANSWER_TYPES:
            raise ValueError(f"there is no type {given!r}; there are {', '.join(NAMES_OF_TYPES)}")
        return given

    @model_validator(mode="after")
    def check_whole(self) -> Self:
        for check in (check_level, check_unit, check_categories, check_set):
            check(self)
        return self

    @property
    def values(self) -> list[str]:
        """The categories' values in scale order."""
        return [category.value for category in self.categories]

    def to_fields(self) -> dict[str, object]:
        """What a row of `Criterion` holds of it."""
        given = self.model_dump(mode="json")
        given["limits"] = self.read_limits().to_json()
        return given

    def read_limits(self) -> Limits:
        return ANSWER_TYPES[self.type].limits.model_validate(self.limits)


def check_level(one: CriterionSpec) -> None:
    levels = ANSWER_TYPES[one.type].levels
    if one.level not in levels:
        raise ValueError(f"the level of this type is {' or '.join(levels)}, not {one.level!r}")


def check_unit(one: CriterionSpec) -> None:
    units = ANSWER_TYPES[one.type].units
    if units and one.unit not in units:
        raise ValueError(f"a {one.type} is asked of {' or '.join(units)}, not of {one.unit}")


def check_categories(one: CriterionSpec) -> None:
    needed = ANSWER_TYPES[one.type].n_categories
    if not needed and one.categories:
        raise ValueError(f"a {one.type} has no categories")
    if len(one.categories) < needed:
        raise ValueError("a scale has at least two categories" if needed > 1 else "say what may be marked: no category")
    twice = next((value for value in one.values if one.values.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"the category {twice!r} stands twice")
    if one.level == "ordinal" and len(one.categories) > STEPS[1]:
        raise ValueError(
            f"an ordered scale has {STEPS[0]} to {STEPS[1]} steps, not {len(one.categories)}; ask for a number instead"
        )
    if one.level == "ordinal":
        check_numbers(np.array([parse_number(value) or 0.0 for value in one.values]))


def check_set(one: CriterionSpec) -> None:
    """Refuse values that could not be told apart once they are joined."""
    if one.type == "spans" and any("/" in value or JOINED_BY in value for value in one.values):
        raise ValueError(f"a category of spans holds no / and no {JOINED_BY}")
    if one.type != "several":
        return
    if any(JOINED_BY in value or value == NOTHING for value in one.values):
        raise ValueError(f"a value that can stand beside others holds no {JOINED_BY} and is not {NOTHING}")
    if len(JOINED_BY.join(one.values)) > LONGEST_VALUE:
        raise ValueError(f"the values have more than {LONGEST_VALUE} characters together; shorten them")
