"""Reads the TOML files of this folder into frozen templates."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Category:
    """One value of a scale, what it is called, and when it applies."""

    value: str
    label: str
    guideline: str


@dataclass(frozen=True)
class CriterionTemplate:
    """A question with its scale. `tie` is a further category that a study of pairs may allow.

    `turn` says whose turns it is about where a study asks it of each turn. One that is not `is_default` is asked only
    where it is named.
    """

    key: str
    name: str
    kind: Literal["dialogue", "pair"]
    level: Literal["nominal", "ordinal", "interval", "ratio"]
    question: str
    guideline: str
    categories: tuple[Category, ...]
    tie: Category | None = None
    turn: Literal["user", "assistant"] = "assistant"
    is_default: bool = True

    def allow_tie(self) -> CriterionTemplate:
        """The variant that offers the tie; the template itself where it knows none."""
        if self.tie is None:
            return self
        return replace(self, categories=(*self.categories, self.tie), tie=None)

    def fields(self) -> dict[str, Any]:
        """What a row of `Criterion` copies from the template."""
        return {
            "key": self.key,
            "name": self.name,
            "question": self.question,
            "guideline": self.guideline,
            "level": self.level,
            "categories": [asdict(category) for category in self.categories],
        }


def load(*keys: str) -> dict[str, CriterionTemplate]:
    """The templates in the files named, in that order."""
    return {key: parse(tomllib.loads((FOLDER / f"{key}.toml").read_text(encoding="utf-8"))) for key in keys}


def parse(document: dict[str, Any]) -> CriterionTemplate:
    """A template from the tables of one file."""
    tie = document.pop("tie", None)
    categories = tuple(Category(**category) for category in document.pop("categories"))
    given: dict[str, Any] = {
        name: value.strip() if isinstance(value, str) else value for name, value in document.items()
    }
    return CriterionTemplate(**given, categories=categories, tie=Category(**tie) if tie else None)
