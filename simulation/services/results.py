"""What an experiment found, as tables: by assistant, condition, domain and turn, and how its dialogues went.

Every table has the same shape, so that page, files and charts need one way to show them: rows by columns of estimates.
All means are over dialogues and resample profiles; differences between conditions are within scenario and assistant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.models import Judge
from simulation.models import Experiment
from simulation.prompts import CONDITIONS
from simulation.queries import evidence
from simulation.queries.evidence import Played, Talk, Verdicts
from simulation.services.columns import DRIFT, OF_ASSISTANT, OF_TALK, OF_USER, Column, P, described
from simulation.stats.cells import NO_PAIR, cell_means

Where = Callable[[Played], bool]


@dataclass(frozen=True)
class Row:
    """A row of a table: its name, where its dialogues stand, and what a second column says of it."""

    name: str
    where: Where
    group: str = ""
    key: str = ""


@dataclass(frozen=True)
class Options:
    bootstrap: int = 2000
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True)
class Data:
    """An experiment's dialogues with what is known of them."""

    played: Sequence[Played]
    verdicts: Verdicts | None
    talks: Mapping[int, Talk]

    def score(self, column: Column, one: Played) -> float:
        """What the judge said of a dialogue; NaN where it said nothing."""
        if self.verdicts is None or one.dialogue is None:
            return math.nan
        return self.verdicts.of_dialogues.get(column.key, {}).get(one.dialogue, math.nan)

    def talk(self, column: Column, one: Played) -> float:
        """How the dialogue went."""
        found = self.talks[one.pk]
        tokens = found.output_tokens
        return {
            "regular": float(one.is_regular),
            "done": float(one.ending == "done"),
            "turns": float(found.turns),
            "tokens": math.nan if tokens is None else float(tokens),
            "leak": float(bool(found.leaks)) if found.user_texts else math.nan,
            "user_repeats": found.user_repeats,
            "assistant_repeats": found.assistant_repeats,
            "cut": found.cut / found.turns if found.turns else math.nan,
        }[column.key]


def read(experiment: Experiment, judge: Judge | None) -> Data:
    """Five queries, whatever the size of the experiment."""
    said = evidence.verdicts(experiment, judge) if judge else None
    return Data(evidence.played(experiment), said, evidence.talks(experiment))


def document(experiment: Experiment, judge: Judge | None, options: Options | None = None) -> dict[str, Any]:
    """All tables, as JSON types."""
    chosen, data = options or Options(), read(experiment, judge)
    tables = [Tables(experiment, data, chosen).of(key) for key in TABLES]
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "state": experiment.state,
        "judge": data.verdicts.judge if data.verdicts else None,
        "judge_kind": data.verdicts.kind if data.verdicts else None,
        "unscored": dict(data.verdicts.unscored) if data.verdicts else {},
        "dialogues": len(data.played),
        "regular": sum(one.is_regular for one in data.played),
        "resampled": "profiles",
        "bootstrap": chosen.bootstrap,
        "confidence": chosen.confidence,
        "seed": chosen.seed,
        "input_hash": experiment.input_hash,
        "tables": {table["key"]: table for table in tables if table["rows"]},
    }


class Tables:
    """The tables of an experiment. Judged ones are of dialogues that ended as they should, the last one of all."""

    def __init__(self, experiment: Experiment, data: Data, options: Options) -> None:
        self.experiment, self.data, self.options = experiment, data, options
        self.assistants = list(dict.fromkeys(one.assistant for one in data.played))
        there = {one.condition for one in data.played}
        self.conditions = [key for key in experiment.conditions if key in there]

    def of(self, key: str) -> dict[str, Any]:
        made: dict[str, Any] = getattr(self, key)()
        return made

    def assistants_table(self) -> dict[str, Any]:
        """The paper's main table: assistants under each condition, tasks of one and of several domains."""
        rows = [
            Row(self.label(assistant, condition), here(assistant, condition, multi), group, assistant)
            for multi, group in ((False, "one domain"), (True, "several domains"))
            for assistant in self.assistants
            for condition in self.conditions
        ]
        return self.judged("assistants", "Assistants", rows, OF_ASSISTANT, group="Tasks of")

    def ablation_table(self) -> dict[str, Any]:
        """Conditions, over all tasks."""
        rows = [
            Row(CONDITIONS[condition].name, here(assistant, condition), assistant, condition)
            for assistant in self.assistants
            for condition in self.conditions
        ]
        return self.judged("ablation", "Conditions", rows, OF_ASSISTANT, group="Assistant")

    def differences_table(self) -> dict[str, Any]:
        """Each condition minus the first, within scenario and assistant."""
        first, *rest = self.conditions if self.data.verdicts and self.conditions else [""]
        rows, columns = [], []
        for assistant in self.assistants:
            for condition in rest:
                rows.append(Row(f"{condition} minus {first}", here(assistant, condition), assistant, condition))
                columns += [self.difference(column, assistant, condition, first) for column in OF_ASSISTANT]
        table = self.table("differences", "Differences between conditions", rows, OF_ASSISTANT, columns, NO_PAIR)
        return {
            **table,
            "group": "Assistant",
            "note": "within the same scenario",
            "columns": [described(column, is_difference=True) for column in OF_ASSISTANT],
        }

    def difference(self, column: Column, assistant: str, condition: str, first: str) -> FloatArray:
        """(n,) of the condition's dialogues, minus what the same scenario got under the first; NaN elsewhere."""
        base = {
            one.key: self.data.score(column, one)
            for one in self.data.played
            if one.is_regular and one.condition == first and one.assistant == assistant
        }
        wanted = here(assistant, condition)
        return np.array(
            [
                self.data.score(column, one) - base.get(one.key, math.nan)
                if one.is_regular and wanted(one)
                else math.nan
                for one in self.data.played
            ]
        )

    def domains_table(self) -> dict[str, Any]:
        """Tasks by their domain, with the mean of all."""
        names = sorted({one.domain for one in self.data.played}, key=lambda name: (name == evidence.SEVERAL, name))
        rows = [Row(name, in_domain(name)) for name in names] + [Row("all", lambda _: True, key="all")]
        return self.judged("domains", "Domains", rows, OF_ASSISTANT)

    def history_table(self) -> dict[str, Any]:
        """Conditions by how far the history was damaged; step 0 is the history as it is."""
        kinds = list(dict.fromkeys(CONDITIONS[key].damage for key in self.conditions if CONDITIONS[key].damage))
        rows = [
            Row(str(CONDITIONS[key].step), here(None, key), kind, key)
            for kind in kinds
            for key in self.conditions
            if CONDITIONS[key].damage == kind or key == WHOLE
        ]
        table = self.judged("history", "Quality of the history", rows, OF_ASSISTANT[1:2] + OF_ASSISTANT[:1])
        return {**table, "group": "Damage", "note": "percent of the summaries that are damaged"}

    def user_table(self) -> dict[str, Any]:
        """Quality of the user agent."""
        rows = [
            Row("tasks of one domain", lambda one: not one.is_multi_domain),
            Row("tasks of several domains", lambda one: one.is_multi_domain),
            Row("all", lambda _: True, key="all"),
        ]
        return self.judged("user_agent", "User agent", rows, OF_USER)

    def turns_table(self) -> dict[str, Any]:
        """Personalization by turn of the assistant, where turns were judged."""
        said = self.data.verdicts.of_turns.get(P.key, {}) if self.data.verdicts else {}
        last = max((turn for _, turn in said), default=0)
        rows, columns = [], []
        for condition in self.conditions if said else []:
            for turn in range(2, last + 1, 2):
                rows.append(Row(str(turn // 2), here(None, condition), condition, condition))
                columns.append(self.at_turn(said, condition, turn))
        table = self.table("turns", "Personalization by turn", rows, (P,), columns, "no dialogue got so far")
        return {**table, "group": "Condition", "note": "n-th turn of the assistant"}

    def at_turn(self, said: Mapping[tuple[int, int], float], condition: str, turn: int) -> FloatArray:
        return np.array(
            [
                said.get((one.dialogue or 0, turn), math.nan) if one.condition == condition else math.nan
                for one in self.data.played
            ]
        )

    def drift_table(self) -> dict[str, Any]:
        """Persona drift: how often the user's n-th turn names a value that the profile does not hold."""
        drifts = {one.pk: self.data.talks[one.pk].drifts for one in self.data.played}
        last = max((len(said) for said in drifts.values() if said), default=0)
        columns = [
            np.array(
                [
                    float(said[turn]) if (said := drifts[one.pk]) and turn < len(said) else math.nan
                    for one in self.data.played
                ]
            )
            for turn in range(last)
        ]
        rows = [Row(str(turn + 1), lambda _: True) for turn in range(last)]
        return {**self.table("drift", "Persona drift", rows, (DRIFT,), columns), "note": "n-th turn of the user"}

    def talk_table(self) -> dict[str, Any]:
        """How the dialogues went, those that ended otherwise included."""
        rows = [
            Row(self.label(assistant, condition), here(assistant, condition))
            for assistant in self.assistants
            for condition in self.conditions
        ]
        rows += [Row("all", lambda _: True, key="all")] if len(rows) > 1 else []
        columns = [self.column(row.where, column, self.data.talk, regular=False) for row in rows for column in OF_TALK]
        return self.table("talk", "How the dialogues went", rows, OF_TALK, columns)

    # how a table is made

    def judged(
        self, key: str, title: str, rows: Sequence[Row], measures: Sequence[Column], *, group: str = ""
    ) -> dict[str, Any]:
        """A table of what the judge said; no rows where no judge has said anything."""
        if self.data.verdicts is None:
            return self.table(key, title, [], measures, [])
        there = [row for row in rows if any(row.where(one) for one in self.data.played)]
        columns = [self.column(row.where, measure, self.data.score) for row in there for measure in measures]
        return {**self.table(key, title, there, measures, columns), "group": group}

    def column(
        self, where: Where, column: Column, value: Callable[[Column, Played], float], *, regular: bool = True
    ) -> FloatArray:
        """(n,) values of the dialogues of a row, NaN elsewhere."""
        return np.array(
            [
                value(column, one) if where(one) and (one.is_regular or not regular) else math.nan
                for one in self.data.played
            ]
        )

    def table(
        self,
        key: str,
        title: str,
        rows: Sequence[Row],
        measures: Sequence[Column],
        columns: Sequence[FloatArray],
        reason: str = "no dialogue here was scored",
    ) -> dict[str, Any]:
        found = self.estimates(columns, reason) if rows else []
        width = len(measures)
        return {
            "key": key,
            "title": title,
            "row": ROWS[key],
            "group": "",
            "note": "",
            "columns": [described(column) for column in measures],
            "rows": [
                {
                    "name": row.name,
                    "group": row.group,
                    "key": row.key,
                    "cells": {column.key: found[place * width + at].as_json() for at, column in enumerate(measures)},
                }
                for place, row in enumerate(rows)
            ],
        }

    def estimates(self, columns: Sequence[FloatArray], reason: str) -> list[Estimate]:
        return cell_means(
            np.column_stack(columns) if columns else np.empty((len(self.data.played), 0)),
            [one.profile for one in self.data.played],
            bootstrap=self.options.bootstrap,
            confidence=self.options.confidence,
            seed=self.options.seed,
            reason=reason,
        )

    def label(self, assistant: str, condition: str) -> str:
        return f"{assistant} · {condition}" if len(self.conditions) > 1 else assistant


ROWS = {
    "assistants": "Assistant",
    "ablation": "Condition",
    "differences": "Difference",
    "domains": "Domain",
    "history": "Percent damaged",
    "turns": "Turn",
    "user_agent": "Tasks",
    "drift": "Turn",
    "talk": "Assistant",
}
"""What the rows of each table are."""

WHOLE = "base+I"
"""The condition with the history as it is."""

TABLES = (
    "assistants_table",
    "ablation_table",
    "differences_table",
    "domains_table",
    "history_table",
    "turns_table",
    "user_table",
    "drift_table",
    "talk_table",
)


def here(assistant: str | None, condition: str, multi: bool | None = None) -> Where:
    """Which dialogues are of this assistant (any where None), this condition, and this kind of task."""

    def where(one: Played) -> bool:
        return (
            (assistant is None or one.assistant == assistant)
            and one.condition == condition
            and (multi is None or one.is_multi_domain == multi)
        )

    return where


def in_domain(name: str) -> Where:
    return lambda one: one.domain == name


def csv_rows(found: Mapping[str, Any]) -> Iterable[list[Any]]:
    """Every figure of the document as one flat row, the first row their names."""
    yield ["table", "group", "row", "measure", "value", "low", "high", "n_dialogues", "n_profiles", "reason", "method"]
    for table in found["tables"].values():
        for row in table["rows"]:
            for column in table["columns"]:
                cell = row["cells"][column["key"]]
                figures = [cell[name] for name in ("value", "low", "high", "n_items", "n_raters", "reason", "method")]
                yield [table["key"], row["group"], row["name"], column["key"], *figures]
