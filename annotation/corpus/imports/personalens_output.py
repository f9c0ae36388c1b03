"""Dialogues that PersonaLens has generated for imported profiles and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from annotation.corpus.imports import scenarios, upsert
from annotation.corpus.imports.personalens import SOURCE
from annotation.corpus.models import Dialogue, Profile, Task
from annotation.corpus.parsing import personalens_output as parsing
from core.errors import InputError
from core.files.input_files import InputFile
from core.files.outcome import Outcome
from core.files.problems import Problems

BATCH = 500


def load_dialogues(*, output: InputFile, users: set[int] | None, problems: Problems, outcome: Outcome) -> None:
    """Insert or update the dialogues below <output>/dialogue. To be called inside a transaction."""
    profiles = dict(Profile.objects.filter(source=SOURCE).values_list("external_id", "pk"))
    tasks = dict(Task.objects.filter(source=SOURCE).values_list("external_id", "pk"))
    dialogues = select_known_dialogues(parsing.read_dialogues(output, users, problems), profiles, tasks, problems)
    while batch := list(islice(dialogues, BATCH)):
        save(batch, profiles, tasks, outcome)


def select_known_dialogues(
    dialogues: Iterator[parsing.ParsedDialogue], profiles: dict[str, int], tasks: dict[str, int], problems: Problems
) -> Iterator[parsing.ParsedDialogue]:
    """The dialogues whose profile and task have been imported; the others go to the problems."""
    for dialogue in dialogues:
        if error := unknown(dialogue, profiles, tasks):
            problems.add(error)
        else:
            yield dialogue


def unknown(dialogue: parsing.ParsedDialogue, profiles: dict[str, int], tasks: dict[str, int]) -> InputError | None:
    about = dialogue.about
    if about.user not in profiles:
        return dialogue.file.error(f"there is no profile {about.user!r}", field="user")
    if about.task not in tasks:
        return dialogue.file.error(f"there is no task {about.task!r}", field="task_id")
    return None


def save(
    batch: list[parsing.ParsedDialogue], profiles: dict[str, int], tasks: dict[str, int], outcome: Outcome
) -> None:
    given = {dialogue.about.external_id: dialogue for dialogue in batch}
    plan = upsert.compare(Dialogue, SOURCE, {name: dialogue.content_hash for name, dialogue in given.items()})
    fresh = {name: dialogue for name, dialogue in given.items() if name not in plan.same}
    found = scenarios.find_or_create(
        [scenarios.ScenarioKey(profiles[one.about.user], tasks[one.about.task], {}) for one in fresh.values()]
    )
    rows = [
        Dialogue(
            source=SOURCE,
            external_id=name,
            content_hash=dialogue.content_hash,
            scenario=scenario,
            turns=dialogue.turns,
            assistant_model=dialogue.about.assistant_model,
            extra=dialogue.extra,
        )
        for (name, dialogue), scenario in zip(fresh.items(), found, strict=True)
    ]
    upsert.save(Dialogue, rows, kind="dialogues", plan=plan, outcome=outcome)
