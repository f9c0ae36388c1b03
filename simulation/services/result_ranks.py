"""Whether the order of assistants depends on the judge or the user agent: ranks by two judges or in two experiments."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from annotation.errors import InputError
from annotation.stats.table import FloatArray
from judging.models import Judge
from simulation.models import Experiment
from simulation.services.columns import OF_ASSISTANT, Column
from simulation.services.result_data import TASKS, Filters, Options, filtered, read
from simulation.services.result_sheet import Row
from simulation.services.result_tables import Tables
from simulation.stats.ranks import rank_changes

Rated = tuple[Experiment, Judge]
"""An experiment, and whose verdicts on it."""

NOTE = "rank by the second minus rank by the first; 1 is the highest mean, ties share a rank"


def rank_document(first: Rated, second: Rated, options: Options, filters: Filters) -> dict[str, Any]:
    """How the rank of each assistant changes, by measure, in the shape of an experiment's document.

    Raises InputError where they have fewer than two assistants in common.
    """
    one, other = (Tables(rated[0], filtered(read(*rated), filters), options) for rated in (first, second))
    names = [name for name in one.assistants if name in other.assistants]
    if len(names) < 2:
        raise InputError("They have fewer than two assistants in common, so there are no ranks.", field="against")
    rows = [Row(name, one.by(name) & one.of_tasks(kind), group) for kind, group in TASKS.items() for name in names]
    changed = [changes(one, other, names, kind, first[0] == second[0]) for kind in TASKS]
    cells = [list(of_assistant) for of_kind in changed for of_assistant in zip(*of_kind, strict=True)]
    note = f"{NOTE}; {one.of_condition}"
    return {
        "name": f"{first[0]} against {second[0]}",
        "judge": f"{first[1]} against {second[1]}",
        "filters": asdict(filters),
        "dialogues": len(one.played) + len(other.played) * (first[0] != second[0]),
        "regular": int(one.played.is_regular.sum() + other.played.is_regular.sum() * (first[0] != second[0])),
        **asdict(options),
        "resampled": "profiles",
        "numbers": {},
        "tables": {"ranks": one.table("ranks", "Changes of rank", rows, cells, OF_RANK, "Tasks of", note)},
    }


OF_RANK = tuple(Column(one.key, one.name, f"Change of rank: {one.title}", None, None, 1) for one in OF_ASSISTANT)


def changes(one: Tables, other: Tables, names: list[str], kind: str, same: bool) -> list[Any]:
    """Of each measure, the changes of rank of the assistants. Two judges of one experiment rate the same rows."""
    profiles = one.profiles if same else [*one.profiles, *other.profiles]
    before, after = (0, 0) if same else (len(one.profiles), len(other.profiles))
    return [
        rank_changes(
            [padded(one, name, kind, column, 0, after) for name in names],
            [padded(other, name, kind, column, before, 0) for name in names],
            profiles,
            **asdict(one.options),
        )
        for column in OF_ASSISTANT
    ]


def padded(sheet: Tables, name: str, kind: str, column: Column, before: int, after: int) -> FloatArray:
    """The values of an assistant's dialogues, with NaN for the rows of the other experiment."""
    where = sheet.usual & sheet.by(name) & sheet.of_tasks(kind)
    return np.pad(np.where(where, sheet.value(column), np.nan), (before, after), constant_values=np.nan)
