"""Shapes of the JSON documents that an experiment's results become; at run time each is a dict."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict, final

from annotation.stats.result_types import EstimateDocument


class PrintedFigure(TypedDict):
    """A number that PersonaLens printed, in the shape of an estimate; what it rests on is not known."""

    value: float | None
    low: float | None
    high: float | None
    reason: str
    n_items: None
    n_raters: None
    method: str


TableFigure = EstimateDocument | PrintedFigure
"""What a cell of a table holds."""


class ColumnDocument(TypedDict):
    """A measure at the head of a table; `low` and `high` are the ends of its scale, None where it is open."""

    key: str
    name: str
    title: str
    low: float | None
    high: float | None
    digits: int


class RowDocument(TypedDict):
    """A row of a table: its figures by the keys of the columns."""

    name: str
    group: str
    key: str
    cells: dict[str, TableFigure]


class TableDocument(TypedDict):
    """A table; `row` and `group` are what its rows and their groups are called, `published` whose rows stand in it."""

    key: str
    number: str
    title: str
    row: str
    group: str
    note: str
    columns: list[ColumnDocument]
    rows: list[RowDocument]
    published: NotRequired[str]


class ResultsHead(TypedDict):
    """Which dialogues the tables are of, how intervals are made, and the tables, by key and by printed number."""

    name: str
    judge: str | None
    filters: dict[str, str | int | None]
    dialogues: int
    regular: int
    resampled: Literal["profiles"]
    bootstrap: int
    confidence: float
    seed: int
    numbers: dict[str, str]
    tables: dict[str, TableDocument]


@final
class RanksDocument(ResultsHead):
    """Changes of rank between two judges, or two experiments."""


@final
class ExperimentDocument(ResultsHead):
    """Everything that was found in an experiment; `turns` are the replies that have verdicts of their own."""

    experiment: int
    state: str
    judge_kind: str | None
    unscored: dict[str, int]
    choices: dict[str, list[tuple[str, str]]]
    turns: list[int]
    not_judged: dict[str, int]
    input_hash: str
    code_version: str
    computed_at: str


class SettingDocument(TypedDict):
    """A setting as published and here; `same` is None where one of the two is not known."""

    setting: str
    paper: str
    here: str
    same: bool | None


@final
class SettingsDocument(TypedDict):
    """The settings of an experiment beside those of PersonaLens, and warnings."""

    experiment: int
    name: str
    settings: list[SettingDocument]
    warnings: list[str]
