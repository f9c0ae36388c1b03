"""Concord's own JSONL: profiles, tasks, scenarios, dialogues and pairs, read and written some hundred at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self, TypeVar
from zipfile import is_zipfile

from django.db import transaction
from pydantic import BaseModel

from annotation.corpus.imports import writing
from annotation.corpus.imports.references import (
    References,
    ScenarioKey,
    find_or_create_scenarios,
    list_hashes,
    store_attachments,
)
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Scenario, SourcedModel, Task
from annotation.corpus.parsing import records as parsing
from annotation.corpus.services import note_uses
from core.accounts.models.users import User
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.files import archives
from core.files.input_files import InputFile, OnError, Problems, read_jsonl
from core.files.outcome import Outcome, explain_refusal
from core.hashing import content_hash
from core.names import check_line

BATCH = 500
SOURCE = "jsonl"

Line = tuple[int, parsing.Record]
One = TypeVar("One", bound=BaseModel)


@dataclass
class Context:
    """What the batches of one file share."""

    file: InputFile
    source: str
    problems: Problems
    profiles: References
    tasks: References
    folder: Path | None = None  # where the files lie that records name

    @classmethod
    def build(cls, file: InputFile, source: str, problems: Problems, folder: Path | None = None) -> Self:
        check_source(source)
        profiles, tasks = References(Profile, source, "profile"), References(Task, source, "task")
        return cls(file, source, problems, profiles, tasks, folder)

    def refuse(self, line: int, record: BaseModel, error: InputError, field: str) -> None:
        place = self.file.error(error.message, line=line, field=field)
        self.problems.add(place, record.model_dump_json(exclude_unset=True))


Columns = Callable[[list[Line], Context], dict[str, dict[str, object]]]


@dataclass(frozen=True)
class RecordKind:
    """A kind of record: its schema, its table, and how records become columns."""

    schema: type[parsing.Record]
    model: type[SourcedModel]
    columns: Columns


def plain(lines: list[Line], context: Context) -> dict[str, dict[str, object]]:  # noqa: ARG001
    """Columns of records that name no others."""
    return {record.id: record.fields() for _, record in lines}


def prepare_dialogues(lines: list[Line], context: Context) -> dict[str, dict[str, object]]:
    """With the scenario of each dialogue, made if it is new."""
    named = list(resolve_lines(lines, context))
    wanted = [
        ScenarioKey(profile, task, record.situation)
        for record, profile, task in named
        if isinstance(record, parsing.DialogueRecord)
    ]
    found = find_or_create_scenarios(wanted)
    return {
        record.id: {**record.fields(), "scenario": scenario}
        for (record, _, _), scenario in zip(named, found, strict=True)
    }


def prepare_pairs(lines: list[Line], context: Context) -> dict[str, dict[str, object]]:
    """With the profile of each pair."""
    return {
        record.id: {**record.fields(), "profile_id": profile} for record, profile, _ in resolve_lines(lines, context)
    }


KINDS: dict[str, RecordKind] = {
    "profiles": RecordKind(parsing.ProfileRecord, Profile, plain),
    "tasks": RecordKind(parsing.TaskRecord, Task, plain),
    "dialogues": RecordKind(parsing.DialogueRecord, Dialogue, prepare_dialogues),
    "pairs": RecordKind(parsing.PairRecord, ResponsePair, prepare_pairs),
}


@audited("material.import", says=("kind", "file", "source", "on_error"))
def load(
    *,
    by: User | None,  # noqa: ARG001
    kind: str,
    file: InputFile,
    source: str = SOURCE,
    on_error: OnError = "stop",
    attachments: Path | None = None,
) -> Outcome:
    """Import a file of `kind` (a key of KINDS); its ids are those of `source`. All or nothing, unless bad records
    are skipped. Pictures and sounds that records name lie in the folder `attachments`; or the file is a ZIP file that
    holds one JSONL file with them."""
    if not is_zipfile(file.path):
        return load_lines(kind, file, source, on_error, attachments, beside=file.path)
    with TemporaryDirectory(prefix="concord-attached-") as place:
        folder = archives.unpack(file, Path(place))
        return load_lines(kind, find_records(folder, file), source, on_error, folder, beside=file.path)


def find_records(folder: Path, packed: InputFile) -> InputFile:
    """The one JSONL file of an archive. InputError where there is none or several."""
    found = sorted(folder.glob("*.jsonl"))
    if len(found) != 1:
        raise packed.error("holds {n} files *.jsonl at its top; one with the records is expected", n=len(found))
    return InputFile(found[0], f"{packed.name}/{found[0].name}")


def load_lines(
    kind: str, file: InputFile, source: str, on_error: OnError, folder: Path | None, *, beside: Path
) -> Outcome:
    problems, outcome = Problems(on_error), Outcome((kind,))
    context = Context.build(file, source, problems, folder)
    lines = read_jsonl(file, KINDS[kind].schema, problems, id_of=lambda record: record.id)
    with explain_refusal(file), transaction.atomic():
        for batch in iterate_batches(store_attached(lines, context), BATCH):
            save(kind, batch, context, outcome)
    outcome.set_aside(problems, beside=beside)
    return outcome


def store_attached(lines: Iterable[Line], context: Context) -> Iterator[Line]:
    """The lines whose attachments could be stored; others go to the problems."""
    for line, record in lines:
        try:
            store_attachments(record, context.folder)
        except InputError as error:
            context.refuse(line, record, error, error.field or "parts")
        else:
            yield line, record


@audited("material.import", says=("file", "source", "on_error"))
def load_scenarios(
    *,
    by: User | None,  # noqa: ARG001
    file: InputFile,
    source: str = SOURCE,
    on_error: OnError = "stop",
) -> Outcome:
    """Import who has which task in which situation; the ids are those of `source`. What is there already stays."""
    problems, outcome = Problems(on_error), Outcome(("scenarios",))
    context = Context.build(file, source, problems)
    lines = read_jsonl(file, parsing.ScenarioRecord, problems, id_of=lambda record: record.id)
    with explain_refusal(file), transaction.atomic():
        for batch in iterate_batches(lines, BATCH):
            before = Scenario.objects.count()
            named = resolve_lines(batch, context)
            wanted = [ScenarioKey(profile, task, record.situation) for record, profile, task in named]
            found = find_or_create_scenarios(wanted)
            created = Scenario.objects.count() - before
            outcome.add("scenarios", created=created, unchanged=len(found) - created)
    outcome.set_aside(problems, beside=file.path)
    return outcome


def save(kind: str, batch: list[Line], context: Context, outcome: Outcome) -> None:
    """Insert or update the records of some lines."""
    model = KINDS[kind].model
    hashes = {record.id: content_hash(record.model_dump(exclude=NO_CONTENT)) for _, record in batch}
    plan = writing.compare(model, context.source, hashes)
    raise_probabilities(context, batch, plan, outcome)
    columns = KINDS[kind].columns([line for line in batch if line[1].id not in plan.same], context)
    rows = [
        model(source=context.source, external_id=identity, content_hash=hashes[identity], **values)
        for identity, values in columns.items()
    ]
    writing.save(model, rows, kind=kind, plan=plan, outcome=outcome)
    shown = {record.id: list_hashes(record) for _, record in batch if record.id in columns}
    note_uses(model, context.source, {name: hashes for name, hashes in shown.items() if hashes or name in plan.changed})


NO_CONTENT = {"inclusion_probability"}
"""How a record came to be drawn is nothing that it says."""


def raise_probabilities(context: Context, batch: list[Line], plan: writing.Plan, outcome: Outcome) -> None:
    """Of records that are there already keep the larger inclusion probability, and count those that it changed.

    With one seed a larger share keeps all that a smaller one kept, so that the larger is that of both together.
    """
    by_share: dict[float, list[str]] = defaultdict(list)
    for _, record in batch:
        if isinstance(record, parsing.DrawnRecord) and record.id in plan.same:
            by_share[record.inclusion_probability].append(record.id)
    for share, ids in by_share.items():
        model: type[ResponsePair | Dialogue] = ResponsePair if isinstance(batch[0][1], parsing.PairRecord) else Dialogue
        rows = model.objects.filter(source=context.source, external_id__in=ids, inclusion_probability__lt=share)
        outcome.raised_probabilities += rows.update(inclusion_probability=share)


def resolve_lines(lines: Iterable[tuple[int, One]], context: Context) -> Iterator[tuple[One, int | None, int | None]]:
    """Each record with the profile and the task that it names; what cannot be found goes to the problems."""
    lines = list(lines)
    references = {"profile_id": context.profiles, "task_id": context.tasks}
    for field, known in references.items():
        known.prepare(filter(None, (getattr(record, field, None) for _, record in lines)))
    for line, record in lines:
        found: dict[str, int | None] = {}
        for field, known in references.items():
            name = getattr(record, field, None)
            try:
                found[field] = None if name is None else known.find(name)
            except InputError as error:
                context.refuse(line, record, error, field)
                break
        else:
            yield record, found["profile_id"], found["task_id"]


def check_source(source: str) -> None:
    if not source or len(source) > 40 or ":" in source:
        raise InputError("a source is named by 1 to 40 characters without a colon", field="source")
    check_line(source, field="source")
