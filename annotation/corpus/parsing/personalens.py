"""The published layout of PersonaLens: profile/user<N>/{profile,tasks,tasks_md}.json and task/<Domain>/task.jsonl.

A full copy holds 212 MB. So each file is parsed once, what is stored as JSON is written out again at once, and a
scenario's record, which repeats its task word for word, is checked against the schema only when the wording is new.
Where an error stands is looked for only when there is one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import (
    InputFile,
    Problems,
    find_first_problem,
    locate_error,
    parse_document,
    read_document,
    read_jsonl,
)


class ProfileDocument(BaseModel):
    """profile.json"""

    model_config = ConfigDict(extra="allow")

    affinities: dict[str, object]
    demographics: dict[str, object]
    interests: dict[str, object]
    interactions: dict[str, object]


class Wording(BaseModel):
    """How a task is put into words; keys as the source spells them, unknown ones kept."""

    model_config = ConfigDict(extra="allow")

    description: str = Field(alias="Task Description", min_length=1)
    intent: str = Field(alias="User Intent")
    goal: str = Field(alias="Task Goal")
    preference_types: list[str] = Field(alias="Relevant Affinity Types")
    domains: list[str] = Field(alias="Relevant Domains")


class SourceScenario(Wording):
    """A record of tasks.json or tasks_md.json."""

    task_id: str = Field(min_length=1, max_length=200)
    situations: dict[str, object]


class DefinitionRecord(Wording):
    """A line of task/<Domain>/task.jsonl. Only tasks of several domains name their domains."""

    number: int = Field(alias="Task Number")
    domains: list[str] = Field(default_factory=list, alias="Relevant Domains")


@dataclass(frozen=True)
class ParsedTask:
    task_id: str
    wording: Wording


@dataclass(frozen=True)
class ParsedUser:
    """A profile and the situation of each of its tasks; what is stored as JSON is JSON text already."""

    user_id: str
    content_hash: str
    profile: dict[str, str]
    situations: dict[str, str]


@dataclass(frozen=True)
class Batch:
    """Some users, and the tasks that came up with them for the first time."""

    users: list[ParsedUser]
    tasks: list[ParsedTask]


@dataclass
class Wordings:
    """The first wording of every task, as the source's dict. Deviations from it are counted, not kept."""

    known: dict[str, dict[str, object]] = field(default_factory=dict)
    new: list[ParsedTask] = field(default_factory=list)
    differing: int = 0

    def note(self, task_id: str, wording: dict[str, object]) -> None:
        if task_id in self.known:
            self.differing += self.known[task_id] != wording
        else:
            self.known[task_id] = wording
            self.new.append(ParsedTask(task_id, Wording.model_validate(wording)))

    def take_new(self) -> list[ParsedTask]:
        """The tasks noted since the last call."""
        tasks, self.new = self.new, []
        return tasks


def user_folders(root: InputFile, users: set[int] | None = None) -> list[Path]:
    """The folders profile/user<N> in order of N; each of `users` must be there."""
    parent = root.path / "profile"
    if not parent.is_dir():
        raise root.error("holds no folder named profile: this is not a copy of PersonaLens")
    found = {int(path.name[4:]): path for path in parent.iterdir() if re.fullmatch(r"user\d+", path.name)}
    for number in sorted(users or ()):
        if number not in found:
            raise root.error(f"profile/user{number} does not exist", field="users")
    if not found:
        raise root.error("profile holds no folder named user<N>")
    return [found[number] for number in sorted(found) if users is None or number in users]


def read_batches(
    root: InputFile, folders: list[Path], wordings: Wordings, problems: Problems, *, size: int
) -> Iterator[Batch]:
    """All tasks and users, `size` users at a time. Definitions of tasks come first."""
    read_definitions(root, wordings, problems)
    for batch in iterate_batches(folders, size):
        users = [read_user(folder, root, wordings, problems) for folder in batch]
        yield Batch([user for user in users if user is not None], wordings.take_new())


def read_definitions(root: InputFile, wordings: Wordings, problems: Problems) -> None:
    """Note the wording of every task in task/<Domain>/task.jsonl, where there is such a folder."""
    for path in sorted((root.path / "task").glob("*/task.jsonl")):
        domain = path.parent.name
        file = InputFile(path, f"{root.name}/task/{domain}/task.jsonl")
        for _, record in read_jsonl(file, DefinitionRecord, problems, id_of=lambda record: str(record.number)):
            wording = record.model_dump(by_alias=True)
            number = wording.pop("Task Number")
            if domain == "Multi-Domain":
                wordings.note(f"MD-task-{number}", wording)
            else:
                wordings.note(f"SD-{domain}-task-{number}", {**wording, "Relevant Domains": [domain]})


def read_user(folder: Path, root: InputFile, wordings: Wordings, problems: Problems) -> ParsedUser | None:
    """One user's folder; None where the profile cannot be used."""

    def part(name: str) -> InputFile:
        return InputFile(folder / name, f"{root.name}/profile/{folder.name}/{name}")

    try:
        content_hash, profile = read_profile(part("profile.json"))
    except InputError as error:
        problems.add(error)
        return None
    situations: dict[str, str] = {}
    for name in ("tasks.json", "tasks_md.json"):
        if (file := part(name)).path.exists():
            ScenarioFile(file, wordings, problems).read_into(situations)
    return ParsedUser(folder.name, content_hash, profile, situations)


def read_profile(file: InputFile) -> tuple[str, dict[str, str]]:
    """Hash of the file, and the profile's columns as JSON text."""
    data = read_document(file)
    try:
        profile = ProfileDocument.model_validate(parse_document(file, data))
    except ValidationError as error:
        raise locate_error(file, data, *find_first_problem(error)) from error
    texts = {
        "demographics": to_text(profile.demographics),
        "preferences": to_text(profile.affinities),
        "interests": to_text(profile.interests),
        "interactions": to_text(profile.interactions),
        "extra": to_text(profile.model_extra),
    }
    return hashlib.sha256(data).hexdigest(), texts


class ScenarioFile:
    """One tasks.json or tasks_md.json: a dict of records."""

    def __init__(self, file: InputFile, wordings: Wordings, problems: Problems) -> None:
        self.file, self.wordings, self.problems = file, wordings, problems
        self.data = b""

    def read_into(self, situations: dict[str, str]) -> None:
        """Add the situation of every task in the file, and note how the tasks are worded."""
        try:
            self.data = read_document(self.file)
            document = parse_document(self.file, self.data)
            if not isinstance(document, dict):
                raise self.file.error("one JSON object is expected, with a record for each task")
        except InputError as error:
            self.problems.add(error)
            return
        known = self.wordings.known
        for key, record in document.items():
            # The usual record repeats a wording that has been checked; all others take the long way.
            inner = record if isinstance(record, dict) else {}
            task_id, situation = inner.pop("task_id", None), inner.pop("situations", None)
            try:
                usual = known.get(task_id) == record and type(situation) is dict and task_id not in situations
            except TypeError:
                usual = False
            if usual or self.accept(key, record, task_id, situation, situations):
                situations[task_id] = to_text(situation)

    def accept(self, key: str, wording: object, task_id: object, situation: object, situations: dict[str, str]) -> bool:
        """Check an unusual record and note its wording; what is wrong with it goes to the problems."""
        known = {"task_id": task_id, "situations": situation}
        given = {name: value for name, value in known.items() if value is not None}
        record = {**given, **wording} if isinstance(wording, dict) else wording
        try:
            checked = SourceScenario.model_validate(record)
        except ValidationError as error:
            path, message = find_first_problem(error)
            self.refuse([key, *path], message, record)
            return False
        if checked.task_id in situations:
            self.refuse([key, "task_id"], f"the task {task_id!r} is there twice", record)
            return False
        if isinstance(wording, dict):
            self.wordings.note(checked.task_id, wording)
        return True

    def refuse(self, path: list[str | int], message: str, record: object) -> None:
        self.problems.add(locate_error(self.file, self.data, path, message), to_json(record))


def to_text(value: object) -> str:
    return to_json(value).decode()
