"""What a record refers to or brings along: profiles and tasks by id, the scenario of a dialogue, attachments."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from django.db.models import Q

from annotation.corpus import services
from annotation.corpus.models import Attachment, Dialogue, Profile, ResponsePair, Scenario, Task, variables_of
from annotation.corpus.parsing.contents import ATTACHED, Part
from annotation.corpus.parsing.records import DialogueRecord, PairRecord, Record
from core.errors import InputError
from core.hashing import content_hash

Referable = Profile | Task | Dialogue | ResponsePair


class References:
    """Looks up ids of one kind of record. `prepare` fetches many in one query; `find` then says which row is meant."""

    def __init__(self, model: type[Referable], source: str | None, noun: str) -> None:
        self.model, self.source, self.noun = model, source, noun
        self.found: dict[str, dict[str, int]] = {}

    def prepare(self, names: Iterable[str]) -> None:
        """Fetch what the names may mean: an id, or `source:id`."""
        wanted = set(names) - self.found.keys()
        ids = wanted | {name.partition(":")[2] for name in wanted if ":" in name}
        by_id: dict[str, dict[str, int]] = defaultdict(dict)
        rows = self.model._default_manager.filter(external_id__in=ids).values_list("external_id", "source", "pk")
        for external_id, source, pk in rows.iterator():
            by_id[external_id][source] = pk
        for name in wanted:
            source, _, external_id = name.partition(":")
            qualified = by_id[external_id].get(source) if external_id else None
            self.found[name] = by_id[name] or ({source: qualified} if qualified is not None else {})

    def find(self, name: str) -> int:
        """The row that a prepared name means; LookupFailed where it means none or several."""
        matches = self.found[name]
        if self.source in matches:
            return matches[self.source]
        if len(matches) == 1:
            return next(iter(matches.values()))
        if matches:
            options = " or ".join(f"{source}:{name}" for source in sorted(matches))
            raise InputError(
                "several sources have a {noun} {name!r}: write {options}", noun=self.noun, name=name, options=options
            )
        raise InputError("there is no {noun} {name!r}", noun=self.noun, name=name)


class ScenarioKey(NamedTuple):
    """A scenario by its parts; one of profile and task may be unknown. An empty situation fits any."""

    profile: int | None
    task: int | None
    situation: dict[str, object]


def find_or_create_scenarios(wanted: Sequence[ScenarioKey]) -> list[Scenario | None]:
    """A scenario for each of `wanted`, in order; None where neither profile nor task is known."""
    known = load_scenarios(wanted)
    new: list[Scenario] = []
    found: list[Scenario | None] = []
    for one in wanted:
        if one.profile is None and one.task is None:
            found.append(None)
            continue
        options = known[one.profile, one.task]
        scenario = find_fitting_scenario(options, one.situation)
        if scenario is None:
            scenario = Scenario(profile_id=one.profile, task_id=one.task, situation=one.situation)
            scenario.variant = "" if all(option.variant for option in options) else content_hash(one.situation)[:16]
            options.append(scenario)
            new.append(scenario)
        found.append(scenario)
    Scenario.objects.bulk_create(new)
    return found


def load_scenarios(wanted: Sequence[ScenarioKey]) -> dict[tuple[int | None, int | None], list[Scenario]]:
    """The scenarios there are, by profile and task. One query."""
    profiles = {one.profile for one in wanted if one.profile is not None}
    tasks = {one.task for one in wanted if one.task is not None}
    rows = Scenario.objects.filter(
        Q(profile__in=profiles, task__in=tasks)
        | Q(profile__in=profiles, task__isnull=True)
        | Q(profile__isnull=True, task__in=tasks)
    )
    known: dict[tuple[int | None, int | None], list[Scenario]] = defaultdict(list)
    for scenario in rows.order_by("variant"):
        known[scenario.profile_id, scenario.task_id].append(scenario)
    return known


def find_fitting_scenario(options: Sequence[Scenario], situation: dict[str, object]) -> Scenario | None:
    """The option of the same situation, however it was made; the first one where the situation is not told."""
    if not situation:
        return options[0] if options else None
    return next((option for option in options if option.variables == variables_of(situation)), None)


def list_parts(record: Record) -> Iterator[Part]:
    """The parts of a record that are pictures or sounds."""
    if isinstance(record, DialogueRecord):
        found = [part for turn in record.turns for part in turn.parts]
    elif isinstance(record, PairRecord):
        found = [part for parts in record.parts.values() for part in parts]
        found += [part for one in record.further for part in one.parts]
    else:
        found = []
    return (part for part in found if part.kind in ATTACHED)


def store_attachments(record: Record, folder: Path | None) -> None:
    """Store what the record brings along, and name it in the record by its hash. InputError for what is not taken."""
    for part in list_parts(record):
        stored = store_part(part, folder)
        part.sha256, part.type, part.file, part.data = stored.sha256, stored.type, "", ""


def store_part(part: Part, folder: Path | None) -> Attachment:
    if part.data:
        return services.store_attachment(decode(part.data), kind=part.kind, name=part.name, declared=part.type)
    if part.file:
        return services.store_attached_file(find_file(part.file, folder), kind=part.kind, name=part.file)
    known = Attachment.objects.filter(sha256=part.sha256).first()
    if known is None:
        raise InputError("the attachment {name} is not on this site", field="parts", name=part.name or part.sha256[:12])
    return known


def decode(data: str) -> bytes:
    """The bytes of a text in base64; too many are refused before they are decoded."""
    services.check_attachment_size(len(data) * 3 // 4 - 2)
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("an attachment is not in base64: {error}", field="parts", error=error) from error


def find_file(name: str, folder: Path | None) -> Path:
    """The file that a record names, within the folder given for attachments. InputError where there is none."""
    if folder is None:
        raise InputError(
            "{name} is a file beside the records: give the folder, or a ZIP file of the records with it",
            field="parts",
            name=name,
        )
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError("{name} lies outside of the attachments", field="parts", name=name)
    if not path.is_file():
        raise InputError("{name} is missing among the attachments", field="parts", name=name)
    return path


def list_hashes(record: Record) -> list[str]:
    """The hashes of what a record shows, once its attachments are stored."""
    return [part.sha256 for part in list_parts(record)]
