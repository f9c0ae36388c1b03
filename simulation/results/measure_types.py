"""Shapes of the JSON documents that measures of the datasets become; at run time each is a dict."""

from __future__ import annotations

from typing import NotRequired, TypedDict, final

from annotation.stats.result_types import EstimateDocument
from core.documents import Row
from simulation.stats.result_types import EvennessDocument, SideDiversityDocument


class DomainDocument(TypedDict):
    """How many tasks a domain has, and how many pairs of user and task."""

    domain: str
    tasks: int
    scenarios: int


class ValueCountDocument(TypedDict):
    """How many profiles have a value, and their share."""

    value: str
    n: int
    share: float


class DemographicsDocument(TypedDict):
    """A field of the `n` profiles that have it, with its values, the most frequent first."""

    field: str
    n: int
    shares: list[ValueCountDocument]


class PreferenceDocument(EvennessDocument):
    """A preference type; `generated` counts the values that occur as the paper does."""

    domain: str
    type: str
    is_categorical: bool | None
    generated: int


@final
class ProfileMeasuresDocument(TypedDict):
    """Measures of the profiles of a source; `profiles` is how many."""

    source: str
    profiles: int
    seed: int
    bootstrap: int
    has_schema: bool
    domains: list[DomainDocument]
    demographics: list[DemographicsDocument]
    preferences: list[PreferenceDocument]


@final
class DialogueMeasuresDocument(TypedDict):
    """Measures of the dialogues of a source; `diversity` by side and kind of task."""

    source: str
    dialogues: int
    seed: int
    bootstrap: int
    choices: str
    turns: EstimateDocument
    words: EstimateDocument
    diversity: dict[str, dict[str, SideDiversityDocument]]


MeasuresDocument = ProfileMeasuresDocument | DialogueMeasuresDocument
"""What is measured of a source."""


class PrintedRowsDocument(TypedDict):
    """Where rows are printed, and those without a like here."""

    source: str
    caption: str
    others: list[Row]


@final
class MeasureTableDocument(TypedDict):
    """A table as PersonaLens numbers it; the columns of its rows depend on the number."""

    table: str
    study: NotRequired[str]
    caption: str
    rows: list[Row]
    published: NotRequired[PrintedRowsDocument]


@final
class FigureDocument(TypedDict):
    """A figure, and the file that it was written to."""

    figure: str
    fields: list[DemographicsDocument]
    svg: str
    file: str | None


@final
class AllMeasuresDocument(TypedDict):
    """All measures of a source, preference types by their names and tables by their numbers."""

    profiles: dict[str, object]
    evenness: dict[str, PreferenceDocument]
    dialogues: dict[str, object]
    diversity: dict[str, dict[str, SideDiversityDocument]]
    tables: dict[str, MeasureTableDocument]
