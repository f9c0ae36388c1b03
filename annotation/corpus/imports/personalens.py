"""PersonaLens: profiles, tasks and scenarios, and the dialogues that it has generated for them.

Profiles and scenarios are written as rows, not as model objects, while a second thread parses the next files: a
full copy then takes less than four times as long as parsing it alone (scripts/bench_import.py measures it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from django.db import connection, transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation.corpus.imports import references, writing
from annotation.corpus.models import Dialogue, Profile, Scenario, Task
from annotation.corpus.parsing import personalens as parsing, personalens_output
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.long_files import read_ahead
from core.files.outcome import Outcome
from core.hashing import content_hash

SOURCE = "personalens"
USERS_AT_A_TIME = 100
TASK_COLUMNS = ("description", "intent", "goal", "preference_types", "domains")
JSON_COLUMNS = ("demographics", "preferences", "interests", "interactions", "extra")
PROFILE_COLUMNS = (
    *("source", "external_id", "content_hash", "created_at", "updated_at", "name", "persona", "memories"),
    *JSON_COLUMNS,
)


def load(
    *,
    root: InputFile,
    users: set[int] | None = None,
    problems: Problems,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Import a copy of PersonaLens, or of it the `users` named by number.

    `progress` is told how many users are done, and of how many. Bad records go to `problems`.
    """
    wordings, outcome = parsing.Wordings(), Outcome(("profiles", "tasks", "scenarios"))
    folders = parsing.user_folders(root, users)
    batches = parsing.read_batches(root, folders, wordings, problems, size=USERS_AT_A_TIME)
    with transaction.atomic(), closing(read_ahead(batches)) as ahead:
        tasks = dict(Task.objects.filter(source=SOURCE).values_list("external_id", "pk"))
        for number, batch in enumerate(ahead, start=1):
            tasks |= save_tasks(batch.tasks, outcome)
            save_users(batch.users, tasks, outcome)
            if progress:
                progress(min(number * USERS_AT_A_TIME, len(folders)), len(folders))
    if wordings.differing:
        outcome.warnings.append(
            f"{wordings.differing} scenarios word their task differently from its first wording, which was kept"
        )
    return outcome


def save_tasks(tasks: list[parsing.ParsedTask], outcome: Outcome) -> dict[str, int]:
    """Insert or update the tasks; their ids by task id of the source."""
    if not tasks:
        return {}
    stored = {task.external_id: task for task in Task.objects.filter(source=SOURCE)}
    new: list[Task] = []
    changed: list[Task] = []
    same = 0
    for parsed in tasks:
        fields = parsed.wording.model_dump(include=set(TASK_COLUMNS)) | {"extra": parsed.wording.model_extra}
        digest = content_hash(fields)
        task = stored.get(parsed.task_id) or Task(source=SOURCE, external_id=parsed.task_id)
        if task.content_hash == digest:
            same += 1
            continue
        (changed if task.pk else new).append(task)
        task.content_hash, task.updated_at = digest, timezone.now()
        task.is_multi_domain = len(parsed.wording.domains) > 1
        for name, value in fields.items():
            setattr(task, name, value)
    Task.objects.bulk_create(new)
    Task.objects.bulk_update(changed, ["content_hash", "updated_at", "is_multi_domain", "extra", *TASK_COLUMNS])
    outcome.add("tasks", created=len(new), updated=len(changed), unchanged=same)
    return {task.external_id: task.pk for task in [*new, *changed]}


def save_users(users: list[parsing.ParsedUser], tasks: dict[str, int], outcome: Outcome) -> None:
    """Insert or update profiles and their scenarios."""
    profiles = Profile.objects.filter(source=SOURCE, external_id__in=[user.user_id for user in users])
    stored = {name: (pk, digest) for name, pk, digest in profiles.values_list("external_id", "pk", "content_hash")}
    new = [user for user in users if user.user_id not in stored]
    old = [user for user in users if user.user_id in stored]
    changed = [user for user in old if stored[user.user_id][1] != user.content_hash]
    insert_profiles(new)
    update_profiles(changed)
    outcome.add("profiles", created=len(new), updated=len(changed), unchanged=len(old) - len(changed))
    ids = dict(profiles.values_list("external_id", "pk"))
    rows = [(ids[user.user_id], tasks[task], "", text) for user in new for task, text in user.situations.items()]
    rows += compare_scenarios(old, ids, tasks, outcome)
    writing.insert(Scenario, ("profile", "task", "variant", "situation"), rows)
    outcome.add("scenarios", created=len(rows))


def insert_profiles(users: list[parsing.ParsedUser]) -> None:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    rows = [
        (SOURCE, user.user_id, user.content_hash, now, now, "", "", "[]", *(user.profile[c] for c in JSON_COLUMNS))
        for user in users
    ]
    writing.insert(Profile, PROFILE_COLUMNS, rows)


def update_profiles(users: list[parsing.ParsedUser]) -> None:
    for user in users:
        values = {column: json.loads(text) for column, text in user.profile.items()}
        Profile.objects.filter(source=SOURCE, external_id=user.user_id).update(
            content_hash=user.content_hash, updated_at=timezone.now(), **values
        )


def compare_scenarios(
    users: list[parsing.ParsedUser], ids: dict[str, int], tasks: dict[str, int], outcome: Outcome
) -> list[tuple[int, int, str, str]]:
    """Update what changed in the scenarios of profiles that were there before; the rows to insert."""
    if not users:
        return []
    scenarios = Scenario.objects.filter(profile__in=[ids[user.user_id] for user in users], variant="")
    written = scenarios.values_list("profile_id", "task_id", "pk", Cast("situation", TextField()))
    stored = {(profile, task): (pk, text) for profile, task, pk, text in written}
    missing, changed, same = [], [], 0
    for user in users:
        for task, text in user.situations.items():
            key = (ids[user.user_id], tasks[task])
            if key not in stored:
                missing.append((*key, "", text))
                continue
            pk, before = stored[key]
            if before == text or json.loads(before) == json.loads(text):
                same += 1
            else:
                changed.append(Scenario(pk=pk, situation=json.loads(text)))
    Scenario.objects.bulk_update(changed, ["situation"], batch_size=400)
    outcome.add("scenarios", updated=len(changed), unchanged=same)
    return missing


BATCH = 500


def load_dialogues(*, output: InputFile, users: set[int] | None, problems: Problems, outcome: Outcome) -> None:
    """Insert or update the dialogues below <output>/dialogue. To be called inside a transaction."""
    profiles = dict(Profile.objects.filter(source=SOURCE).values_list("external_id", "pk"))
    tasks = dict(Task.objects.filter(source=SOURCE).values_list("external_id", "pk"))
    dialogues = select_known_dialogues(
        personalens_output.read_dialogues(output, users, problems), profiles, tasks, problems
    )
    while batch := list(islice(dialogues, BATCH)):
        save_dialogues(batch, profiles, tasks, outcome)


def select_known_dialogues(
    dialogues: Iterator[personalens_output.ParsedDialogue],
    profiles: dict[str, int],
    tasks: dict[str, int],
    problems: Problems,
) -> Iterator[personalens_output.ParsedDialogue]:
    """The dialogues whose profile and task have been imported; the others go to the problems."""
    for dialogue in dialogues:
        if error := find_unknown(dialogue, profiles, tasks):
            problems.add(error)
        else:
            yield dialogue


def find_unknown(
    dialogue: personalens_output.ParsedDialogue, profiles: dict[str, int], tasks: dict[str, int]
) -> InputError | None:
    about = dialogue.about
    if about.user not in profiles:
        return dialogue.file.error("there is no profile {user!r}", field="user", user=about.user)
    if about.task not in tasks:
        return dialogue.file.error("there is no task {task!r}", field="task_id", task=about.task)
    return None


def save_dialogues(
    batch: list[personalens_output.ParsedDialogue], profiles: dict[str, int], tasks: dict[str, int], outcome: Outcome
) -> None:
    given = {dialogue.about.external_id: dialogue for dialogue in batch}
    plan = writing.compare(Dialogue, SOURCE, {name: dialogue.content_hash for name, dialogue in given.items()})
    fresh = {name: dialogue for name, dialogue in given.items() if name not in plan.same}
    found = references.find_or_create_scenarios(
        [references.ScenarioKey(profiles[one.about.user], tasks[one.about.task], {}) for one in fresh.values()]
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
    writing.save(Dialogue, rows, kind="dialogues", plan=plan, outcome=outcome)
