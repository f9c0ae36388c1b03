"""What is exchanged with other tools: criteria, items, and what people and judges said of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from core.errors import InputError

Kind = Literal["dialogue", "pair"]
META = "concord"
"""Under which name what only Concord knows stands in files of other tools."""

RESPONSES = ("1", "2")
TIE = "tie"
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Scale:
    """A criterion: its key, what is asked, its level of measurement, and its categories in scale order.

    A category is {"value", "label", "guideline"}; none where any number may be given. `unit` is item, user_turn,
    assistant_turn or response. `type` says how it is answered, and the rest what a rubric says besides.
    """

    key: str
    name: str
    question: str
    level: str
    categories: tuple[Mapping[str, object], ...] = ()
    guideline: str = ""
    unit: str = "item"
    type: str = "choice"
    help: str = ""
    examples: tuple[Mapping[str, object], ...] = ()
    limits: Mapping[str, object] = field(default_factory=dict)
    is_required: bool = True
    condition: Mapping[str, object] | None = None

    @property
    def values(self) -> list[str]:
        """The categories' values in scale order."""
        return [str(category["value"]) for category in self.categories]

    @property
    def chooses_response(self) -> bool:
        """Whether an answer names one of two responses, or a tie."""
        return set(RESPONSES) <= set(self.values) <= {*RESPONSES, TIE} and (self.level, self.unit) == (
            "nominal",
            "item",
        )

    @property
    def stars(self) -> int | None:
        """How many stars would spell the scale: n where its values are 1 to n in order; None for other scales."""
        values = self.values
        spelt = [str(number) for number in range(1, len(values) + 1)]
        return len(values) if values == spelt and self.type == "choice" and not self.chooses_response else None


@dataclass(frozen=True, slots=True)
class ExchangedAnswer:
    """One answer of one rater to one criterion: a value as its scale spells it, or the reason why there is none.

    A pair's value names the response, whatever side it was shown on. `order` spells which response stood at each place:
    of CAB the third was first; empty where it is not recorded. `turn` counts from 1; 0 is the whole item. `evidence` is
    [{"part", "start", "end", "text"}]. `content` is that of spans, texts and rewrites, whose `value` is only a number.
    Times are ISO 8601.
    """

    rater: Annotated[str, Field(min_length=1, max_length=100)]
    criterion: Annotated[str, Field(min_length=1, max_length=60)]
    value: Annotated[str, Field(max_length=400)] = ""
    reason: Annotated[str, Field(max_length=200)] = ""
    of_judge: bool = False
    order: Annotated[str, Field(pattern="^[A-L]{0,12}$")] = ""
    turn: Annotated[int, Field(ge=0, le=32_767)] = 0
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    note: str = ""
    strength: Literal["", "slightly", "much"] = ""
    evidence: tuple[Mapping[str, object], ...] = ()
    active_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    submitted_at: str = ""
    guideline_version: Annotated[int, Field(ge=1, le=32_767)] | None = None
    content: list[Any] | dict[str, Any] | None = None

    @property
    def question(self) -> str:
        """What it answers, where a tool takes one answer to a question: of a turn that is a question of its own."""
        return f"{self.criterion}-turn-{self.turn}" if self.turn else self.criterion

    @property
    def categories(self) -> list[str]:
        """The values of several categories; - stands for none."""
        return [value for value in self.value.split("|") if value != "-"]

    def to_extras(self, *told: str) -> dict[str, object]:
        """What it holds besides the fields that are told elsewhere, without what was never given."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in told and getattr(self, each.name) not in (each.default, "", None)
        }

    @classmethod
    def from_extras(cls, kept: Mapping[str, object], **told: object) -> ExchangedAnswer:
        """An answer from what `to_extras` gave and what was told elsewhere. Unknown names are refused as such."""
        unknown = [name for name in kept if name not in cls.__slots__]
        if unknown:
            raise InputError("unknown: {unknown}", field="concord", unknown=unknown[0])
        both: dict[str, Any] = {**kept, **told}
        return cls(**{**both, "evidence": tuple(both.get("evidence", ()))})


@dataclass(frozen=True, slots=True)
class Rated:
    """An item and what was said of it.

    `record` is the dialogue or pair as Concord's own JSONL has it (id, turns; or id, question, response_1, response_2,
    …) with its `source`. `facts` is what the study knows of the item besides: position, stratum, inclusion
    probability.
    """

    record: Mapping[str, Any]
    answers: tuple[ExchangedAnswer, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    def to_document(self, answers: Iterable[ExchangedAnswer]) -> dict[str, object]:
        """The item with some of its answers, as it stands whole in a file of another tool."""
        return {"record": self.record, "facts": self.facts, "answers": [one.to_extras() for one in answers]}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Rated:
        """The item that `to_document` gave."""
        return cls(given["record"], tuple(ExchangedAnswer.from_extras(one) for one in given["answers"]), given["facts"])


@dataclass(frozen=True, slots=True)
class StudyHead:
    """What holds for the study as a whole."""

    name: str
    kind: Kind
    scales: tuple[Scale, ...]
    description: str = ""

    def scale(self, key: str) -> Scale:
        return next(scale for scale in self.scales if scale.key == key)


@dataclass(frozen=True, slots=True)
class Package:
    """A study as it was read from a file: all its items, and notes on what had to be assumed or left out."""

    head: StudyHead
    items: tuple[Rated, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Naming:
    """How a file from elsewhere calls what Concord asks for.

    Attributes
    ----------
    fields
        Concord's name of a field -> the file's: {"response_1": "text1"}.
    judges
        Raters of the file that are judges, besides those that it marks as such.
    fixed_order
        Whether sides were never swapped, where the file does not tell.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    judges: frozenset[str] = frozenset()
    fixed_order: bool = False

    def find_value(self, name: str, given: Mapping[str, object], usual: Sequence[str] = ()) -> object:
        """The value of a field: under the name that was told, else under its own or a usual one; None if absent."""
        names = [self.fields[name]] if name in self.fields else [name, *usual]
        return next((given[each] for each in names if each in given), None)

    def find_id(self, given: Mapping[str, object], otherwise: str = "") -> str:
        """The id, which may be the number 0; `otherwise` where there is none."""
        found = self.find_value("id", given)
        return otherwise if found in (None, "") else spell_value(found)


FIELDS = ("id", "dialogue", "question", "context", "response_1", "response_2", "model_1", "model_2")
"""What `Naming.fields` may name."""


def parse_naming(pairs: Iterable[str], judges: Iterable[str] = (), *, fixed_order: bool = False) -> Naming:
    """From what is written on a command line: `response_1=text1`. Raises InputError for a field that is not asked."""
    fields: dict[str, str] = {}
    for written in pairs:
        name, equals, theirs = written.partition("=")
        if not equals or not theirs or name not in FIELDS:
            raise InputError(
                "{written!r} should be FIELD=NAME; fields are: {fields}",
                field="fields",
                written=written,
                fields=", ".join(FIELDS),
            )
        fields[name] = theirs
    return Naming(fields, frozenset(judges), fixed_order)


Items = Callable[[], Iterable[Rated]]
"""Gives the items anew each time, so that each file of an export reads them once and none is held."""


def build_scale(key: str, values: Iterable[str], *, known: Mapping[str, Scale]) -> Scale:
    """The scale of answers whose file does not say more than their values.

    A known one of that key where all values are on it; 1 to 5, or to the largest, for whole numbers from 1 to 10;
    0 and 1, and words, as categories without an order; any number otherwise.
    """
    seen = list(dict.fromkeys(value for value in values if value))
    if key in known and set(seen) <= set(known[key].values):
        return known[key]
    name = key.replace("_", " ").replace("-", " ").capitalize()
    question = f"{name}?"
    numbers = [parse_number(value) for value in seen]
    if seen and all(value is not None for value in numbers):
        found = sorted(value for value in numbers if value is not None)
        whole = all(value == int(value) for value in found)
        if whole and found[0] >= 1 and found[-1] <= 10:
            top = max(5, int(found[-1]))
            return Scale(key, name, question, "ordinal", build_categories(str(step) for step in range(1, top + 1)))
        if set(found) <= {0.0, 1.0}:
            return Scale(key, name, question, "nominal", build_categories(["0", "1"]))
        return Scale(key, name, question, "interval", type="number")
    return Scale(key, name, question, "nominal", build_categories(sorted(seen)))


def build_categories(values: Iterable[str]) -> tuple[Mapping[str, object], ...]:
    """Categories that are called what their values are."""
    return tuple({"value": value, "label": value.capitalize(), "guideline": ""} for value in values)


def preference(key: str = "preference", *, tie: bool = True) -> Scale:
    """Which of two responses is better."""
    values = [("1", "Response 1"), ("2", "Response 2"), *([(TIE, "Tie")] if tie else [])]
    categories = tuple({"value": value, "label": label, "guideline": ""} for value, label in values)
    return Scale(key, "Preference", "Which response is better?", "nominal", categories)


def parse_number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def write_list(rows: Iterable[object]) -> Iterator[str]:
    """A JSON list, one row on each line."""
    comma = "[\n"
    for row in rows:
        yield comma + json.dumps(row, ensure_ascii=False)
        comma = ",\n"
    yield "[]\n" if comma == "[\n" else "\n]\n"


def spell_value(value: object) -> str:
    """A value of a file as a scale spells it: 4.0 is 4, true is 1. Raises InputError for a number without an end."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError("is not a finite number")
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value).strip()


def to_shown_side(value: str, order: str) -> str:
    """The side on the screen, A or B, of the response that a value names; the value itself for a tie."""
    return swap_value(value, order, dict(zip(RESPONSES, SIDES, strict=True)))


def to_named_response(side: str, order: str) -> str:
    """The response that a side of the screen shows; the other way round than `to_shown_side`."""
    back = {"A": "1", "B": "2"} if order != "BA" else {"A": "2", "B": "1"}
    return back.get(side, side)


def swap_value(value: str, order: str, sides: Mapping[str, str]) -> str:
    if value not in sides:
        return value
    if order != "BA":
        return sides[value]
    return next(side for response, side in sides.items() if response != value)


def add_scales(head: StudyHead, items: Sequence[Rated], known: Mapping[str, Scale]) -> StudyHead:
    """The head with a scale for each criterion that the answers name as well, in the order in which they name it."""
    values: dict[str, list[str]] = {}
    units: dict[str, str] = {}
    for item in items:
        for answer in item.answers:
            values.setdefault(answer.criterion, []).append(answer.value)
            if answer.turn and head.kind == "pair":
                units.setdefault(answer.criterion, "response")
            elif answer.turn:
                units.setdefault(answer.criterion, f"{item.record['turns'][answer.turn - 1]['role']}_turn")
    there = {scale.key: scale for scale in head.scales}
    further = [
        replace(build_scale(key, seen, known=known), unit=units.get(key, "item"))
        for key, seen in values.items()
        if key not in there
    ]
    return replace(head, scales=(*head.scales, *further))


LONGEST_KEY = 60


def to_key(name: object) -> str:
    """A name as the key of a criterion: letters, digits, hyphens and underscores."""
    key = re.sub(r"[^A-Za-z0-9_-]+", "-", str(name)).strip("-")[:LONGEST_KEY]
    if not key:
        raise InputError("{name!r} cannot be the key of a criterion", field="criterion", name=name)
    return key
