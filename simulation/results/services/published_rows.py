"""The printed numbers of PersonaLens as further rows of an experiment's tables, beside the experiment's own."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.results.published import SOURCE, is_published, load_table
from simulation.results.result_types import ExperimentDocument, PrintedFigure, RowDocument, TableDocument
from simulation.results.services.data import TASKS

KEY = "published"
"""Of the rows that are not the experiment's."""

PRINTED, NOT_PRINTED = "as printed, without an interval", "not printed"
BY_TASKS = {"sd": TASKS["single"], "md": TASKS["multi"]}
PERCENT = "task_completion"

TURNS = {
    "dialogues": ("dialogues",),
    "turns_per_dialogue": ("turns", "exchanges"),
    "tokens_per_turn": ("tokens_per_turn",),
}
"""Under which measures the printed ones of Table 13 stand; whether a turn is a message is not said."""


def add_published(document: ExperimentDocument) -> ExperimentDocument:
    """The document with the printed rows at the end of each table that has any."""
    return {**document, "tables": {key: add_printed_rows(table) for key, table in document["tables"].items()}}


def add_printed_rows(table: TableDocument) -> TableDocument:
    """One table with the printed rows, if its numbers are known."""
    name = table["number"].lower().replace(" ", "_")
    if not is_published(name):
        return table
    names = [column["key"] for column in table["columns"]]
    rows: list[RowDocument] = [
        {
            "name": f"{row} (printed)",
            "group": group,
            "key": KEY,
            "cells": {key: cell(values.get(key)) for key in names},
        }
        for row, group, values in list_rows(name)
    ]
    note = "; ".join(part for part in (table["note"], f"rows marked printed are of {SOURCE}") if part)
    return {**table, "note": note, "rows": [*table["rows"], *rows], "published": SOURCE}


def list_rows(name: str) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Name, group and values by measure of each printed row, those of either kind of tasks apart."""
    found = load_table(name)
    columns, rows = found["columns"][1:], found["rows"]
    if name == "table_13":
        for place, (tasks, group) in enumerate(BY_TASKS.items(), start=1):
            yield tasks.upper(), group, {key: row[place] for row in rows for key in TURNS[row[0]]}
    elif name == "table_10":
        for row in rows:
            yield row[0], "", dict(zip(columns, row[1:], strict=True))
    else:
        for tasks, group in BY_TASKS.items():
            for row in rows:
                printed = dict(zip(columns, row[1:], strict=True))
                values = {
                    measure(key, tasks): to_share(key, value) for key, value in printed.items() if tasks in key[:2]
                }
                if values:
                    yield row[0], group, values


def measure(column: str, tasks: str) -> str:
    """The measure of a printed column. Completion is printed by the paper's own rule."""
    key = column.removeprefix(f"{tasks}_")
    return f"{key}_published" if key == PERCENT else key


def to_share(column: str, value: float) -> float:
    return value / 100 if column.endswith(PERCENT) else value


def cell(value: float | None) -> PrintedFigure:
    """A printed number in the shape of a figure; how many dialogues it rests on is not known."""
    return {
        "value": value,
        "low": None,
        "high": None,
        "reason": NOT_PRINTED if value is None else PRINTED,
        "n_items": None,
        "n_raters": None,
        "method": "none",
    }
