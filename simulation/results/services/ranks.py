"""Whether orders depend on the judge or the user agent: ranks by two judges or in two experiments, table by table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from annotation.agreement.options import IntervalOptions
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from core.errors import InputError
from judging.judges.models import Judge
from simulation.experiments.models import Experiment
from simulation.results.queries.judgments import SEVERAL
from simulation.results.result_types import RanksDocument, TableDocument
from simulation.results.services.columns import OF_ASSISTANT, OF_SIZE, OF_USER, OF_VARIETY, Column, P
from simulation.results.services.data import Filters, filter_data, load_data
from simulation.results.services.results import AT_ONCE, is_large
from simulation.results.services.sheet import Row
from simulation.results.services.tables import ALL_SINGLE, Tables
from simulation.stats.cells import rank_changes

Rated = tuple[Experiment, Judge | None]
"""An experiment, and whose verdicts on it."""

NOTE = "rank by the second minus rank by the first; 1 is the highest mean, ties share a rank"
TITLES = {
    "assistants": "Changes of rank of assistants",
    "ablation": "Changes of rank of conditions",
    "domains": "Changes of rank of domains",
    "turns": "Changes of rank by turn",
    "user_agent": "Changes of rank of assistants by the user agent's quality",
    "variety": "Changes of rank of assistants by the diversity of words",
    "size": "Changes of rank of assistants by the size of the dialogues",
}
"""By the table whose rows are ranked."""

WITHOUT_JUDGE = ("variety", "size")
"""What no judge has a part in."""


def rank_document(first: Rated, second: Rated, options: IntervalOptions, filters: Filters) -> RanksDocument:
    """How ranks change, by table and measure, in the shape of an experiment's document.

    Raises InputError where nobody has judged one of them, or no table has two rows in common.
    """
    if first[1] is None or second[1] is None:
        unrated = (first if first[1] is None else second)[0]
        raise InputError(
            "No judge has rated the dialogues of {unrated}, so there are no ranks.", field="against", unrated=unrated
        )
    is_same = first[0] == second[0]
    one, other = (Tables(rated[0], filter_data(load_data(*rated), filters), options) for rated in (first, second))
    keys = [key for key in TITLES if not (is_same and key in WITHOUT_JUDGE)]
    tables = {key: table for key in keys if (table := rank_table(key, one, other, is_same=is_same))["rows"]}
    if not tables:
        raise InputError("They have no two rows of a table in common, so there are no ranks.", field="against")
    return {
        "name": f"{first[0]} against {second[0]}",
        "judge": f"{first[1]} against {second[1]}",
        "filters": asdict(filters),
        "dialogues": len(one.played) + len(other.played) * (not is_same),
        "regular": int(one.played.is_regular.sum() + other.played.is_regular.sum() * (not is_same)),
        "bootstrap": options.bootstrap,
        "seed": options.seed,
        "confidence": options.confidence,
        "resampled": "profiles",
        "numbers": {table["number"]: key for key, table in tables.items()},
        "tables": tables,
    }


def ranks_on_request(first: Rated, second: Rated, filters: Filters) -> RanksDocument:
    """The same for a page or the API. Raises InputError where somebody would wait too long."""
    if any(is_large(experiment) for experiment, _ in (first, second)):
        raise InputError(
            "More than {at_once:,} dialogues take a while: experiment_results --against prints them.",
            field="against",
            at_once=AT_ONCE,
        )
    return rank_document(first, second, IntervalOptions(), filters)


def build_ranking(sheet: Tables, key: str) -> tuple[list[Row], Sequence[Column], str]:
    """The rows of a table that are ranked within their groups, its measures, and what groups are called."""
    by_domain = [row for assistant in sheet.assistants for row in sheet.list_domain_rows(assistant)]
    regular = [replace(row, where=row.where & sheet.played.is_regular) for row in sheet.list_task_rows()]
    systems = [row for row in sheet.curves() if row.group not in (ALL_SINGLE, SEVERAL)]
    by_turn = [Row(row.group, row.where, str(turn)) for turn in sheet.compute_by_reply() for row in systems]
    return {
        "turns": (by_turn, (P,), "Turn"),
        "assistants": (sheet.list_task_rows(), OF_ASSISTANT, "Tasks of"),
        "ablation": (sheet.list_condition_rows(), OF_ASSISTANT, "Tasks of"),
        "domains": (by_domain, OF_ASSISTANT, "Assistant"),
        "user_agent": (sheet.list_task_rows(), OF_USER, "Tasks of"),
        "variety": (regular, OF_VARIETY, "Tasks of"),
        "size": (regular, [column for column in OF_SIZE if not column.per], "Tasks of"),
    }[key]


def rank_table(key: str, one: Tables, other: Tables, *, is_same: bool) -> TableDocument:
    """Of each row that both have, its changes of rank among the rows of its group; none where a group has but one."""
    found, measures, group = build_ranking(one, key)
    theirs = {(row.group, row.name): row for row in other.select_filled(build_ranking(other, key)[0])}
    groups = defaultdict[str, list[Row]](list)
    for row in one.select_filled(found):
        if (row.group, row.name) in theirs:
            groups[row.group].append(row)
    rows: list[Row] = []
    cells: list[list[Estimate]] = []
    for mine in groups.values():
        if len(mine) > 1:
            pairs = [(row, theirs[row.group, row.name]) for row in mine]
            rows += mine
            found_of = [changes(key, one, other, pairs, column, is_same) for column in measures]
            cells += [list(of_row) for of_row in zip(*found_of, strict=True)]
    columns = [Column(at.key, at.name, f"Change of rank: {at.title}", None, None, 1) for at in measures]
    note = NOTE if key == "ablation" else f"{NOTE}; {one.of_condition}"
    table = one.table(key, TITLES[key], rows, cells, columns, group, note)
    return {**table, "row": one.of_curve} if key == "turns" else table


def changes(
    key: str, one: Tables, other: Tables, pairs: Sequence[tuple[Row, Row]], column: Column, is_same: bool
) -> list[Estimate]:
    """The changes of rank by a measure. Two judges of one experiment rate the same dialogues."""
    profiles = one.profiles if is_same else [*one.profiles, *other.profiles]
    before, after = (0, 0) if is_same else (len(one.profiles), len(other.profiles))
    return rank_changes(
        [pad_values(key, one, row, column, 0, after) for row, _ in pairs],
        [pad_values(key, other, row, column, before, 0) for _, row in pairs],
        profiles,
        **one.options.model_dump(),
    )


def pad_values(key: str, sheet: Tables, row: Row, column: Column, before: int, after: int) -> FloatArray:
    """The values of a row's dialogues, with NaN for the dialogues of the other experiment."""
    found = sheet.compute_by_reply()[int(row.group)] if key == "turns" else sheet.value(column)
    values = np.where(row.where, found, np.nan)
    return np.pad(values, (before, after), constant_values=np.nan)
