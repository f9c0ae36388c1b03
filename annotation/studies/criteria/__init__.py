"""Published rubrics as templates of criteria, in our own words.

One TOML file of this folder is one criterion, one in `rubrics` is a whole rubric. The dialogue criteria and their
scales follow PersonaLens (arXiv 2506.09902), the preference follows PersonaFeedback (arXiv 2506.12915); rubrics cite
what they follow.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from annotation.studies.parsing.rubric_files import ENDINGS, read_rubric
from annotation.studies.parsing.rubrics import Rubric, parse_rubric
from core.files.input_files import InputFile

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

    def fields(self) -> dict[str, object]:
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
    return {key: parse((FOLDER / f"{key}.toml").read_text(encoding="utf-8")) for key in keys}


def parse(text: str) -> CriterionTemplate:
    """A template from a file's text of one criterion, read as any rubric is; `tie` and `turn` are a template's own."""
    document = tomllib.loads(text)
    found = parse_rubric(document).criteria[0]
    tie = document.get("tie")
    told = {name: getattr(found, name) for name in ("key", "name", "level", "question", "guideline")}
    own = {name: document[name] for name in ("kind", "turn", "is_default") if name in document}
    return CriterionTemplate(
        **told,
        **own,
        categories=tuple(Category(**one.model_dump()) for one in found.categories),
        tie=Category(**{name: text.strip() for name, text in tie.items()}) if tie else None,
    )


def load_rubrics(folder: Path = FOLDER / "rubrics") -> dict[str, Rubric]:
    """The rubrics in the files of a folder, by the names of the files."""
    files = sorted(folder.iterdir())
    return {path.stem: read_rubric(InputFile.from_path(path)) for path in files if path.suffix[1:] in ENDINGS}


TEMPLATES: dict[str, CriterionTemplate] = load(
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
    "preference",
    "first_turn_preference",
    "persona_drift",
    "goal_leakage",
)

RUBRICS = load_rubrics()
"""Rubrics that a study can be made with, by name."""


def default_keys(kind: str) -> list[str]:
    """The criteria that a study of this kind of item asks unless it names its own."""
    return [key for key, found in TEMPLATES.items() if found.kind == kind and found.is_default]


__all__ = ["RUBRICS", "TEMPLATES", "Category", "CriterionTemplate", "default_keys"]
