"""A sheet of an experiment's dialogues: which of them stand in a row, and how rows become a table of estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.agreement.options import IntervalOptions
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray
from simulation.experiments.models import Experiment
from simulation.results.queries.judgments import sort_names
from simulation.results.result_types import TableDocument
from simulation.results.services.columns import Column, describe_column
from simulation.results.services.data import TASKS, Data
from simulation.stats.cells import cell_means

BASE = "base"
"""The condition of most of the paper's tables."""

NOT_SCORED = "no dialogue here was scored"
A_COUNT = "a count"

NUMBERS = {
    "assistants": "Table 3",
    "ablation": "Table 4",
    "variety": "Table 10",
    "user_agent": "Table 12",
    "size": "Table 13",
    "domains": "Figure 4",
    "turns": "Figure 5",
}
"""Of the tables and figures of PersonaLens (arXiv 2506.09902)."""

ROWS = {
    "assistants": "Assistant",
    "ablation": "Condition",
    "differences": "Difference",
    "domains": "Domain",
    "history": "Percent damaged",
    "turns": "Turn",
    "user_agent": "Assistant",
    "user_checks": "Assistant",
    "variety": "Assistant",
    "size": "Assistant",
    "drift": "Turn",
    "talk": "Assistant",
}
"""What the rows of each table are."""


@dataclass(frozen=True, eq=False)
class Row:
    """A row of a table: its name, its dialogues as a mask (n,), and what a second column says of it.

    `key` tells rows that are drawn as a line from the others: `all` and `mean`.
    """

    name: str
    where: BoolArray
    group: str = ""
    key: str = ""


class Sheet:
    """Dialogues of an experiment, and how tables are made of them."""

    def __init__(self, experiment: Experiment, data: Data, options: IntervalOptions) -> None:
        self.data, self.options, self.played = data, options, data.played
        self.known: dict[str, FloatArray] = {}
        self.assistants = sort_names(self.played.assistant)
        there = set(sort_names(self.played.condition))
        self.conditions = [key for key in experiment.conditions if key in there]
        self.condition = BASE if BASE in there else next(iter(self.conditions), "")

    # which dialogues

    @property
    def everything(self) -> BoolArray:
        return np.ones(len(self.played), dtype=bool)

    @property
    def usual(self) -> BoolArray:
        """(n,) those under the condition that a table of one condition shows."""
        return self.mask_condition(self.condition)

    def mask_condition(self, condition: str) -> BoolArray:
        return np.equal(self.played.condition, condition)

    def mask_assistant(self, assistant: str) -> BoolArray:
        return np.equal(self.played.assistant, assistant)

    def mask_tasks(self, kind: str) -> BoolArray:
        return np.equal(self.played.is_multi_domain, kind == "multi")

    def list_task_rows(self) -> list[Row]:
        """A row of each assistant for either kind of tasks."""
        return [
            Row(assistant, self.usual & self.mask_assistant(assistant) & self.mask_tasks(kind), name, assistant)
            for kind, name in TASKS.items()
            for assistant in self.assistants
        ]

    def group_of(self, assistant: str) -> str:
        """What tells the rows of one assistant from those of others."""
        return assistant if len(self.assistants) > 1 else ""

    @property
    def of_condition(self) -> str:
        return f"condition {self.condition}" if self.condition else ""

    # how a table is made

    @cached_property
    def profiles(self) -> list[str]:
        found: list[str] = self.played.profile.tolist()
        return found

    def value(self, column: Column) -> FloatArray:
        if column.key not in self.known:
            self.known[column.key] = self.data.value(column)
        return self.known[column.key]

    def select_filled(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that have dialogues."""
        return [row for row in rows if row.where.any()]

    def build_judged_table(
        self, key: str, title: str, rows: Sequence[Row], measures: Sequence[Column], group: str, note: str = ""
    ) -> TableDocument:
        """A table of what the judge said; no rows where no judge has said anything."""
        there = self.select_filled(rows) if self.data.verdicts else []
        return self.table(key, title, there, self.cells(there, measures), measures, group, note)

    def if_judged(self, rows: list[Row], cells: list[list[Estimate]]) -> tuple[list[Row], list[list[Estimate]]]:
        return (rows, cells) if self.data.verdicts else ([], [])

    def cells(self, rows: Sequence[Row], measures: Sequence[Column]) -> list[list[Estimate]]:
        """Of each row, the mean of each measure over its dialogues."""
        columns = [np.where(row.where, self.value(one), np.nan) for row in rows for one in measures]
        found = self.means(columns, of=measures)
        width = len(measures)
        return [found[place * width : (place + 1) * width] for place in range(len(rows))]

    def means(
        self,
        columns: Sequence[FloatArray],
        reason: str = NOT_SCORED,
        weights: FloatArray | None = None,
        of: Sequence[Column] = (),
    ) -> list[Estimate]:
        """The mean of each column; `of` are its measures, again and again, where their scales have ends."""
        return cell_means(
            columns,
            self.profiles,
            bootstrap=self.options.bootstrap,
            confidence=self.options.confidence,
            seed=self.options.seed,
            reason=reason,
            weights=weights,
            ends=[of[place % len(of)].ends for place in range(len(columns))] if of else None,
        )

    def table(
        self,
        key: str,
        title: str,
        rows: Sequence[Row],
        cells: Sequence[Sequence[Estimate]],
        measures: Sequence[Column],
        group: str = "",
        note: str = "",
    ) -> TableDocument:
        return {
            "key": key,
            "number": NUMBERS.get(key, ""),
            "title": title,
            "row": ROWS[key],
            "group": group if any(row.group for row in rows) else "",
            "note": note,
            "columns": [describe_column(column) for column in measures],
            "rows": [
                {
                    "name": row.name,
                    "group": row.group,
                    "key": row.key,
                    "cells": {one.key: cell.to_json() for one, cell in zip(measures, found, strict=True)},
                }
                for row, found in zip(rows, cells, strict=True)
            ],
        }


def figure(value: float, n: int, reason: str) -> Estimate:
    """A number without an interval, and why it has none."""
    return Estimate(value, np.nan, np.nan, reason, n, 0, n, 0.95, "none", None)


def count(row: Row) -> Estimate:
    n = int(row.where.sum())
    return figure(float(n), n, A_COUNT)
