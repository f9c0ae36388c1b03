"""Measures of what was said in an experiment's dialogues: each made once from its turns, kept, and read as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, FloatArray
from annotation.stats.words import words
from core.hashing import content_hash
from simulation.agents.prompts import FAITHFUL, Scene
from simulation.experiments.models.experiments import DialogueMeasures, Experiment
from simulation.experiments.queries.scenarios import Alternatives
from simulation.results.queries import turns as talks
from simulation.results.queries.judgments import DialogueColumns
from simulation.results.queries.turns import StoredMessage
from simulation.stats.drift import contradictions, strange_values
from simulation.stats.leakage import find_leaked
from simulation.stats.repetition import repetition_share
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
    def from_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Self:
        """From the kept values of each dialogue."""
        names = sorted({name for row in rows for name in row} - {DRIFTS})
        columns = {name: np.array([row[name] for row in rows], dtype=float) for name in names}
        said = [row[DRIFTS] or [] for row in rows]
        drifts = np.full((len(rows), max(map(len, said), default=0)), np.nan)
        for place, turns in enumerate(said):
            drifts[place, : len(turns)] = turns
        return cls(columns, drifts)

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
    return TurnMeasures.from_rows([found[pk] for pk in there.pk.tolist()])


def iterate_measures(experiment: Experiment, dialogues: Sequence[int]) -> Iterator[dict[int, dict[str, Any]]]:
    """The measures of dialogues, by id, in batches."""
    if not dialogues:
        return
    scenes, possible, left = talks.Scenes(experiment), talks.load_closed_values(experiment), iter(dialogues)
    while batch := list(islice(left, AT_A_TIME)):
        said = talks.messages(batch)
        told = {
            pk: measure_dialogue(said[pk], scene, list_known_preferences(experiment, scene), possible)
            for pk, scene in scenes.load(batch).items()
        }
        yield {pk: {**told[pk], **of_words} for pk, of_words in zip(said, varieties(list(said.values())), strict=True)}


def list_known_preferences(experiment: Experiment, scene: Scene) -> Mapping[str, Any]:
    """The preferences that the user agent knows, and so may give away or contradict."""
    return scene.domain_preferences if experiment.user_information == FAITHFUL else scene.relevant_preferences


def measure_dialogue(
    said: Sequence[StoredMessage], scene: Scene, preferences: Mapping[str, Any], possible: Alternatives
) -> dict[str, Any]:
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
