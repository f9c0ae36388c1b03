"""Draws out of a large file by rule: which share of which rows is kept, with the probability that each row had.

Whether a row is kept depends on its id and the seed alone. So the same file gives the same rows in any order, a second
import changes nothing, and a larger share keeps all that a smaller one kept.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.files.tables.rows import find_value, is_blank

RELATIONS = {"below": "is below", "above": "is above", "equals": "is", "thumbs_down": "is a thumbs down"}
NEGATIVE = {
    "down",
    "thumbs_down",
    "thumbsdown",
    "thumb_down",
    "👎",
    "dislike",
    "negative",
    "bad",
    "no",
    "false",
    "0",
    "-1",
}
"""How tools write that somebody did not like an answer."""
RESOLUTION = 2**64
ROWS, OTHERS = "rows", "other rows"


class DrawingRule(BaseModel):
    """Of the rows in whose `column` stands a value of that kind, this share is kept."""

    model_config = ConfigDict(extra="forbid")

    column: str = Field(min_length=1)
    relation: Literal["below", "above", "equals", "thumbs_down"]
    value: str = Field("", coerce_numbers_to_str=True)
    share: float = Field(1.0, ge=0, le=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def need_value(self) -> DrawingRule:
        if self.relation in ("below", "above") and to_number(self.value) is None:
            raise ValueError(f"{RELATIONS[self.relation]} needs a number to compare with")
        if self.relation == "equals" and not self.value.strip():
            raise ValueError("needs a value to compare with")
        return self

    def matches(self, values: Mapping[str, object]) -> bool:
        """Whether a row is one of these; a row without a value is none."""
        found = find_value(values, self.column)
        if is_blank(found):
            return False
        if self.relation == "thumbs_down":
            return spell(found).replace("-", "_").replace(" ", "_") in NEGATIVE or spell(found) in NEGATIVE
        if self.relation == "equals":
            return spell(found) == spell(self.value)
        number, limit = to_number(found), to_number(self.value)
        if number is None or limit is None:
            return False
        return number < limit if self.relation == "below" else number > limit

    def describe(self) -> str:
        value = f" {self.value}" if self.relation != "thumbs_down" else ""
        return f"{self.column} {RELATIONS[self.relation]}{value}"


class DrawingRules(BaseModel):
    """The first rule that a row matches says with which share it is kept; `rest` says it for all others."""

    model_config = ConfigDict(extra="forbid")

    rules: list[DrawingRule] = Field([], max_length=20)
    rest: float = Field(1.0, ge=0, le=1, allow_inf_nan=False)
    seed: int = Field(0, ge=0, le=2**63 - 1)

    def find_probability(self, values: Mapping[str, object]) -> tuple[str, float]:
        """Which rows these are, in words, and the probability of keeping each."""
        for rule in self.rules:
            if rule.matches(values):
                return f"{ROWS} where {rule.describe()}", rule.share
        return OTHERS if self.rules else ROWS, self.rest

    def takes(self, identity: str, probability: float) -> bool:
        """Whether the row of that id is kept: a number in [0, 1) that follows from seed and id is below."""
        return draw_number(self.seed, identity) < probability


@dataclass
class DrawingCounts:
    """How many rows each rule met, and how many of them were kept."""

    met: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    @classmethod
    def build(cls, rules: DrawingRules | None) -> DrawingCounts:
        """With a count for each rule, also of one that no row meets."""
        return cls(Counter({f"{ROWS} where {rule.describe()}": 0 for rule in rules.rules} if rules else {}))

    def to_sentences(self) -> list[str]:
        return [f"Kept {self.kept[name]:,} of {n:,} {name}." for name, n in self.met.items()]


def draw_number(seed: int, identity: str) -> float:
    """A number in [0, 1) that follows from the two, evenly over ids."""
    digest = hashlib.blake2b(f"{seed}\n{identity}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / RESOLUTION


def spell(value: object) -> str:
    """A value as it is compared: true is `true`, 0.0 is `0`."""
    if isinstance(value, bool):
        return str(value).lower()
    number = to_number(value)
    return f"{number:g}" if number is not None else str(value).strip().casefold()


def to_number(value: object) -> float | None:
    """A finite number, also with a decimal comma; None for all else."""
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(str(value).strip().replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
