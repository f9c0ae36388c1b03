"""What was said in an experiment's dialogues, streamed, and what is kept of it as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from annotation.corpus.models import Profile, Scenario, Task
from core.hashing import content_hash
from simulation.agents.prompts import Scene
from simulation.experiments.models.experiments import Experiment, SimulatedDialogue, Turn
from simulation.experiments.queries.scenarios import Alternatives, alternatives, build_scene

MANY = 5000
"""Rows that are asked for by their ids in one query."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A turn as far as it is measured."""

    number: int
    side: str
    text: str
    cut: bool
    cut_off: bool
    output_tokens: int | None


def messages(dialogues: Sequence[int]) -> dict[int, list[StoredMessage]]:
    """The turns of some dialogues, in order. One query."""
    found: dict[int, list[StoredMessage]] = {pk: [] for pk in dialogues}
    rows = Turn.objects.filter(simulated__in=dialogues).order_by("simulated", "number")
    columns = rows.values_list("simulated_id", "number", "side", "text", "cut", "cut_off", "output_tokens")
    for pk, number, side, text, cut, cut_off, tokens in columns:
        found[pk].append(StoredMessage(number, side, text, cut, bool(cut_off), tokens))
    return found


def texts(dialogues: Sequence[int]) -> Iterator[str]:
    """Everything that was said in some dialogues, by both sides."""
    left = iter(dialogues)
    while batch := list(islice(left, MANY)):
        rows = Turn.objects.filter(simulated__in=batch).exclude(text="").order_by("simulated", "number")
        yield from rows.values_list("text", flat=True).iterator(chunk_size=MANY)


def hashes(experiment: Experiment) -> dict[int, str]:
    """By dialogue that has ended, a hash of all that its measures depend on. Two queries."""
    known = content_hash(load_closed_values(experiment))
    about = ("pk", "ended_at", "scenario__profile__content_hash", "scenario__task__content_hash")
    rows = experiment.dialogues.exclude(ending="").order_by().values_list(*about)
    return {pk: content_hash([str(ended), profile, task, known]) for pk, ended, profile, task in rows}


def load_closed_values(experiment: Experiment) -> Alternatives:
    """The values that preferences could have, where those are all there are."""
    profile = Profile.objects.filter(scenarios__simulated__experiment=experiment).first()
    return alternatives(profile.source, closed=True) if profile else {}


class Scenes:
    """The scenes of an experiment's dialogues. Each profile and task is read once."""

    def __init__(self, experiment: Experiment) -> None:
        played = {"scenarios__simulated__experiment": experiment}
        self.profiles = Profile.objects.filter(**played).distinct().in_bulk()
        self.tasks = Task.objects.filter(**played).distinct().in_bulk()

    def load(self, dialogues: Sequence[int]) -> dict[int, Scene]:
        """By dialogue. One query."""
        rows = SimulatedDialogue.objects.filter(pk__in=dialogues).select_related("scenario")
        return {row.pk: self.scene(row.scenario) for row in rows}

    def scene(self, scenario: Scenario) -> Scene:
        scenario.profile = self.profiles.get(scenario.profile_id or 0)
        scenario.task = self.tasks.get(scenario.task_id or 0)
        return build_scene(scenario)
