"""An experiment's dialogues with what is known of them, and which of them somebody asks about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.table import BoolArray, FloatArray
from core.errors import InputError
from judging.judges.models.judges import Judge
from simulation.experiments.models.experiments import Experiment
from simulation.results.queries import judgments
from simulation.results.queries.judgments import DialogueColumns, Names, Verdicts, sort_names
from simulation.results.services.columns import TCR, TCR_PUBLISHED, Column
from simulation.results.services.stored_measures import TurnMeasures, load_or_measure

TASKS = {"single": "one domain", "multi": "several domains"}
"""Kinds of tasks: what they are called in an address, and in a table."""


@dataclass(frozen=True)
class Filters:
    """Which dialogues are asked about; empty for all.

    Attributes
    ----------
    assistant, condition
        By the name that tables give the assistant, and the condition's key.
    tasks
        `single` or `multi`: tasks of one domain or of several.
    domain
        Tasks that are about this domain, among others or alone.
    turn
        Judged tables use the verdicts on this reply of the assistant, from 1, in place of those on the whole dialogue.
    """

    assistant: str = ""
    condition: str = ""
    tasks: str = ""
    domain: str = ""
    turn: int | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Filters:
        """From an address or a command. Raises InputError for a turn that is no number."""
        named = {field: str(given.get(field) or "") for field in ("assistant", "condition", "tasks", "domain")}
        turn = "" if given.get("turn") is None else str(given["turn"])
        if turn and not (turn.isascii() and turn.isdigit() and int(turn)):
            raise InputError(f"The turn is a number from 1, not {turn!r}.", field="turn")
        return cls(**named, turn=int(turn) if turn else None)


@dataclass(frozen=True, eq=False)
class Data:
    """n dialogues with what a judge said of them and what was measured in them."""

    played: DialogueColumns
    verdicts: Verdicts | None
    measures: TurnMeasures
    turn: int | None = None

    def only(self, kept: BoolArray) -> Data:
        """Return the dialogues of a mask (n,)."""
        said = self.verdicts.only(kept) if self.verdicts else None
        return Data(self.played.only(kept), said, self.measures.only(kept), self.turn)

    def value(self, column: Column) -> FloatArray:
        """(n,) a measure of each dialogue; NaN where it has none. Verdicts count where it ended as it should."""
        own: dict[str, FloatArray] = {
            "regular": self.played.is_regular.astype(float),
            "done": (self.played.ending == "done").astype(float),
        }
        if column.key in own:
            return own[column.key]
        if column.key in self.measures.columns:
            return self.measures.columns[column.key]
        if column == TCR_PUBLISHED:
            return self.mark_completed()
        return np.where(self.played.is_regular, self.list_verdicts(column), np.nan)

    def list_verdicts(self, column: Column) -> FloatArray:
        """(n,) the judge's verdict on the dialogue, or on the turn that is asked about."""
        if self.verdicts is None:
            return self.build_undefined()
        if self.turn:
            return self.verdicts.of_turns.get(column.key, {}).get(2 * self.turn, self.build_undefined())
        return self.verdicts.of_dialogues.get(column.key, self.build_undefined())

    def mark_completed(self) -> FloatArray:
        """(n,) 1 for a task that the judge calls completed, 0 for any other dialogue that ended.

        NaN where there is no answer yet: a call failed, or the judge has not been asked. A dialogue that ended as it
        should not is no material for the judge, and has failed.
        """
        if self.verdicts is None or self.turn or TCR.key not in self.verdicts.is_asked:
            return self.build_undefined()
        was_no_dialogue = np.char.endswith(self.played.ending, "_failed")
        counts = self.verdicts.is_asked[TCR.key] | ~(self.played.is_regular | was_no_dialogue)
        return np.where(counts, self.verdicts.of_dialogues[TCR.key] == 1, np.nan)

    def build_undefined(self) -> FloatArray:
        return np.full(len(self.played), np.nan)


def load_data(experiment: Experiment, judge: Judge | None) -> Data:
    """Read everything; what was not measured yet is measured now, and kept."""
    there = judgments.load_dialogues(experiment)
    said = judgments.verdicts(experiment, judge, there) if judge else None
    return Data(there, said, load_or_measure(experiment, there))


def filter_data(data: Data, filters: Filters) -> Data:
    """Return the dialogues that the filters ask about. Raises InputError for a name that is not there."""
    there = data.played
    kept = np.ones(len(there), dtype=bool)
    if filters.assistant:
        check_named(filters.assistant, sort_names(there.assistant), "assistant")
        kept &= there.assistant == filters.assistant
    if filters.condition:
        check_named(filters.condition, sort_names(there.condition), "condition")
        kept &= there.condition == filters.condition
    if filters.tasks:
        check_named(filters.tasks, TASKS, "tasks")
        kept &= there.is_multi_domain == (filters.tasks == "multi")
    if filters.domain:
        check_named(filters.domain, sorted({name for names in there.domains for name in names}), "domain")
        kept &= there.is_about(filters.domain)
    if filters.turn is not None:
        check_turn(data, filters.turn)
    found = data.only(kept)
    return Data(found.played, found.verdicts, found.measures, filters.turn)


def check_named(name: str, known: Collection[str], field: str) -> None:
    if name not in known:
        there = ", ".join(known) or "none, since no dialogue has ended"
        raise InputError(f"No dialogue has the {field} {name!r}; there are: {there}.", field=field)


def check_turn(data: Data, turn: int) -> None:
    """Raises InputError where the judge has not judged this reply of any dialogue."""
    known = list_judged_turns(data)
    if turn not in known:
        there = (
            f"there are verdicts on replies {known[0]} to {known[-1]}" if known else "it judged whole dialogues only"
        )
        raise InputError(f"No judge rated reply {turn} of the assistant: {there}.", field="turn")


def choices(there: DialogueColumns) -> dict[str, list[tuple[Any, str]]]:
    """What a person can filter by: field -> (value, name)."""

    def named(names: Collection[str] | Names) -> list[tuple[Any, str]]:
        return [(name, name) for name in sort_names(list(names))]

    return {
        "assistant": named(there.assistant),
        "condition": named(there.condition),
        "tasks": [(key, f"tasks of {name}") for key, name in TASKS.items()],
        "domain": named(sorted({name for names in there.domains for name in names})),
    }


def list_judged_turns(data: Data) -> list[int]:
    """The replies of the assistant that have verdicts of their own."""
    said = data.verdicts.of_turns if data.verdicts else {}
    return sorted({turn // 2 for turns in said.values() for turn in turns})
