"""An experiment's dialogues with what is known of them and measured in them, and which of them somebody asks about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, FloatArray
from annotation.stats.words import words
from core.batches import iterate_batches
from core.errors import InputError
from core.hashing import content_hash
from judging.judges.models import Judge
from simulation.agents.prompts import FAITHFUL, Scene
from simulation.experiments.models import DialogueMeasures, Experiment
from simulation.experiments.queries import Alternatives
from simulation.results.queries import judgments, judgments as talks
from simulation.results.queries.judgments import DialogueColumns, Names, StoredMessage, Verdicts, sort_names
from simulation.results.services.columns import TCR, TCR_PUBLISHED, Column
from simulation.stats.utterances import contradictions, find_leaked, repetition_share, strange_values
from simulation.stats.variety import Texts, bleu_among, mean_by_group, variety

VERSION = 2
"""Of the measures: another one makes them all anew."""

AT_A_TIME = 500
DRIFTS = "drifts"
VARIETY = ("dist_1", "dist_2", "ent_4")


@dataclass(frozen=True, eq=False)
class TurnMeasures:
    """Measures of n dialogues.

    Attributes
    ----------
    columns
        Measure -> (n,) number; NaN where it is undefined.
    drifts
        (n, k) whether the user's 1st … k-th turn contradicts the profile; NaN where there is no such turn, or where the
        values that preferences could have are not known.
    """

    columns: Mapping[str, FloatArray]
    drifts: FloatArray

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[str, object]], drifts: Sequence[Sequence[float] | None]) -> Self:
        """From the kept values of each dialogue."""
        names = sorted({name for row in rows for name in row} - {DRIFTS})
        columns = {name: np.array([row[name] for row in rows], dtype=float) for name in names}
        by_turn = np.full((len(rows), max((len(turns or ()) for turns in drifts), default=0)), np.nan)
        for place, turns in enumerate(drifts):
            by_turn[place, : len(turns or ())] = turns or ()
        return cls(columns, by_turn)

    def only(self, kept: BoolArray) -> Self:
        """Return the measures of a mask (n,) of dialogues."""
        columns = {name: values[kept] for name, values in self.columns.items()}
        return replace(self, columns=columns, drifts=self.drifts[kept])


def load_or_measure(experiment: Experiment, there: DialogueColumns) -> TurnMeasures:
    """The measures of the dialogues that have ended. What is not kept yet is made and kept, some hundreds at a time."""
    keys = {pk: content_hash([VERSION, told]) for pk, told in talks.hashes(experiment).items()}
    rows = DialogueMeasures.objects.filter(simulated__experiment=experiment).values_list("pk", "key", "values")
    found = {pk: values for pk, key, values in rows.iterator(chunk_size=2000) if keys.get(pk) == key}
    missing = [pk for pk in there.pk.tolist() if pk not in found]
    for made in iterate_measures(experiment, missing):
        DialogueMeasures.objects.bulk_create(
            (DialogueMeasures(pk=pk, key=keys[pk], values=values) for pk, values in made.items()),
            update_conflicts=True,
            unique_fields=["simulated"],
            update_fields=["key", "values"],
        )
        found |= made
    measured = [found[pk] for pk in there.pk.tolist()]
    return TurnMeasures.from_rows(measured, [values[DRIFTS] for values in measured])


def iterate_measures(experiment: Experiment, dialogues: Sequence[int]) -> Iterator[dict[int, dict[str, object]]]:
    """The measures of dialogues, by id, in batches."""
    if not dialogues:
        return
    scenes, possible = talks.Scenes(experiment), talks.load_closed_values(experiment)
    for batch in iterate_batches(dialogues, AT_A_TIME):
        said = talks.messages(batch)
        told = {
            pk: measure_dialogue(said[pk], scene, list_known_preferences(experiment, scene), possible)
            for pk, scene in scenes.load(batch).items()
        }
        yield {pk: {**told[pk], **of_words} for pk, of_words in zip(said, varieties(list(said.values())), strict=True)}


def list_known_preferences(experiment: Experiment, scene: Scene) -> Mapping[str, object]:
    """The preferences that the user agent knows, and so may give away or contradict."""
    return scene.domain_preferences if experiment.user_information == FAITHFUL else scene.relevant_preferences


def measure_dialogue(
    said: Sequence[StoredMessage], scene: Scene, preferences: Mapping[str, object], possible: Alternatives
) -> dict[str, object]:
    """How one dialogue went. Tokens are None where the provider told none of some turn."""
    by_side = {side: [turn.text for turn in said if turn.side == side and turn.text] for side in ("user", "assistant")}
    given = f"{scene.task} {scene.intent} {scene.goal}"
    strange = strange_values(preferences, possible)
    first = next((turn.text for turn in said if turn.number == 1), "")
    tokens = [turn.output_tokens for turn in said]
    n = sum(map(len, by_side.values()))
    return {
        "turns": n,
        "exchanges": max(len(by_side["user"]) - 1, 0),
        "tokens": None if None in tokens else sum(token or 0 for token in tokens),
        "cut": sum(turn.cut for turn in said) / n if n else None,
        "cut_off": sum(turn.cut_off for turn in said) / n if n else None,
        "leak": float(bool(find_leaked(first, preferences, given=given))) if by_side["user"] else None,
        "user_repeats": number_or_none(repetition_share(by_side["user"])),
        "assistant_repeats": number_or_none(repetition_share(by_side["assistant"])),
        DRIFTS: [int(bool(contradictions(text, strange, given=given))) for text in by_side["user"]]
        if possible
        else None,
    }


def varieties(said: Sequence[Sequence[StoredMessage]]) -> list[dict[str, float | None]]:
    """Words of each dialogue, and how varied they are within it."""
    spoken = [[turn.text for turn in turns if turn.text] for turns in said]
    texts = Texts.from_words(words(text) for one in spoken for text in one)
    group, n = np.repeat(np.arange(len(spoken)), [len(one) for one in spoken]), len(spoken)
    found = variety(texts, group, n)
    columns = {name: getattr(found, name) for name in VARIETY}
    columns["self_bleu"] = mean_by_group(bleu_among(texts, group), group, n)
    columns["words"] = np.bincount(group, texts.lengths, n).astype(float)
    return [{name: number_or_none(float(values[k])) for name, values in columns.items()} for k in range(n)]


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
    def parse(cls, given: Mapping[str, object]) -> Filters:
        """From an address or a command. Raises InputError for a turn that is not a number."""
        named = {field: str(given.get(field) or "") for field in ("assistant", "condition", "tasks", "domain")}
        turn = "" if given.get("turn") is None else str(given["turn"])
        if turn and not (turn.isascii() and turn.isdigit() and int(turn)):
            raise InputError("The turn is a number from 1, not {turn!r}.", field="turn", turn=turn)
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
        raise InputError(
            "No dialogue has the {kind} {name!r}; there are: {there}.",
            field=field,
            kind=field,
            name=name,
            there=there,
        )


def check_turn(data: Data, turn: int) -> None:
    """Raises InputError where the judge has not judged this reply of any dialogue."""
    known = list_judged_turns(data)
    if turn not in known:
        there = (
            f"there are verdicts on replies {known[0]} to {known[-1]}" if known else "it judged whole dialogues only"
        )
        raise InputError("No judge rated reply {turn} of the assistant: {there}.", field="turn", turn=turn, there=there)


def choices(there: DialogueColumns) -> dict[str, list[tuple[str, str]]]:
    """What a person can filter by: field -> (value, name)."""

    def named(names: Collection[str] | Names) -> list[tuple[str, str]]:
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
