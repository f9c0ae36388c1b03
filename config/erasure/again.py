"""Holds a restored database to the list of who withdrew or was erased.

Whoever is in the list and not in the database withdraws, or is erased, again: at the moment that the list names, so
that doing it twice changes nothing.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.dateparse import parse_datetime

from annotation.recruitment.models import ConsentDecision
from annotation.recruitment.services import consents, withdrawn
from annotation.recruitment.services.withdrawn import ERASED, Listed, WithdrawalEntry, birthday, format_time
from annotation.studies.models.studies import Study
from config.erasure.erasing import make_nobody
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError

Known = tuple[int, str]
"""Key of an account or a study in an entry: its number, and when it was created."""


@dataclass(frozen=True)
class ReappliedErasures:
    """What was done again, by which list; `unreadable` are numbers of lines."""

    path: str
    is_there: bool
    listed: int
    unreadable: tuple[int, ...]
    withdrawn: int
    erased: int

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "unreadable": list(self.unreadable)}


@dataclass(frozen=True)
class ErasureFinding:
    """Where the accounts and studies of entries are in this database."""

    people: Mapping[Known, int]
    studies: Mapping[Known, int]


def to_person(entry: WithdrawalEntry) -> Known:
    return entry.person, entry.joined


def to_study(entry: WithdrawalEntry) -> Known:
    return entry.study, entry.made


def apply_list() -> ReappliedErasures:
    """Withdraw and erase again whom the list names. InputError where it cannot be read."""
    listed = the_list()
    return apply(listed, find_here(listed.entries))


def apply_to_archive(archive: zipfile.ZipFile, numbers: Mapping[type[Model], Mapping[int, int]]) -> ReappliedErasures:
    """The same for the study of an archive. Its rows have other numbers here than the list knows them by."""
    people = find_in_archive(archive, User, "date_joined", numbers[User])
    studies = find_in_archive(archive, Study, "created_at", numbers[Study])
    return apply(the_list(), ErasureFinding(people, studies))


def the_list() -> Listed:
    try:
        return withdrawn.load_listed()
    except OSError as error:
        raise InputError(
            "cannot be read: {strerror}", file=str(withdrawn.path()), strerror=error.strerror or error
        ) from error


def add_lists(paths: Iterable[Path]) -> None:
    """Take the entries of other lists, such as those of other hosts, into the list of this site."""
    for path in paths:
        other = withdrawn.read(path)
        if not other.is_there:
            raise InputError("is not there", file=str(path))
        withdrawn.add(other.entries)


def find_here(entries: Iterable[WithdrawalEntry]) -> ErasureFinding:
    """Accounts and studies that have the numbers and moments of the entries."""
    people = User.objects.filter(pk__in={entry.person for entry in entries})
    studies = Study.objects.filter(pk__in={entry.study for entry in entries})
    return ErasureFinding(load_created(people, "date_joined"), load_created(studies, "created_at"))


def load_created(rows: QuerySet[Model], column: str) -> dict[Known, int]:
    return {(pk, birthday(at)): pk for pk, at in rows.values_list("pk", column)}


def find_in_archive(
    archive: zipfile.ZipFile, model: type[Model], column: str, numbers: Mapping[int, int]
) -> dict[Known, int]:
    with archive.open(f"{model._meta.label}.jsonl") as file:
        rows = [json.loads(line) for line in file]
    return {(row["id"], birthday(parse_time(row[column]))): numbers[row["id"]] for row in rows}


def parse_time(text: str) -> datetime:
    at = parse_datetime(text)
    if at is None:
        raise ValueError(f"{text!r} is not a moment")
    return at


def apply(listed: Listed, found: ErasureFinding) -> ReappliedErasures:
    """In the order in which it happened, all or nothing."""
    due = list_owed(listed.entries, found)
    with audit_batch():
        for entry in due:
            do_again(entry, found)
    erased = sum(entry.what == ERASED for entry in due)
    place = str(withdrawn.path())
    return ReappliedErasures(place, listed.is_there, len(listed.entries), listed.unreadable, len(due) - erased, erased)


def sentence(done: Mapping[str, Any]) -> str:
    """What `Applied.as_json` says."""
    if not done["is_there"]:
        return (
            f"There is no list of the withdrawn at {done['path']}: whoever withdrew or was erased after this file was "
            "written is in it again. Copy the list there and run manage.py withdrawn --apply."
        )
    lines = ", ".join(map(str, done["unreadable"]))
    counts = f"withdrawn again: {done['withdrawn']:,}, erased again: {done['erased']:,}"
    text = f"Of {done['listed']:,} in {done['path']}, {counts}."
    return f"{text} Lines that cannot be read: {lines}." if lines else text


def list_owed(entries: Iterable[WithdrawalEntry], found: ErasureFinding) -> list[WithdrawalEntry]:
    """Entries on what is here of which the database does not know. Two queries."""
    decided = ConsentDecision.objects.filter(decision=ConsentDecision.Decision.WITHDRAWN)
    done = {(who, study, format_time(at)) for who, study, at in decided.values_list("annotator", "study", "created_at")}
    there = User.objects.filter(pk__in=found.people.values(), erased_at=None)
    left = {(pk, birthday(joined)) for pk, joined in there.values_list("pk", "date_joined")}
    return [entry for entry in sorted(entries) if is_owed(entry, found, done, left)]


def is_owed(entry: WithdrawalEntry, found: ErasureFinding, done: set[tuple[int, int, str]], left: set[Known]) -> bool:
    """Whether it is yet to be done. An account that had the name before an archive came is not erased for its sake."""
    person, study = found.people.get(to_person(entry)), found.studies.get(to_study(entry))
    if person is None:
        return False
    if entry.what == ERASED:
        return (person, entry.joined) in left
    return study is not None and (person, study, entry.at) not in done


def do_again(entry: WithdrawalEntry, found: ErasureFinding) -> None:
    person = User.objects.get(pk=found.people[to_person(entry)])
    if entry.what == ERASED:
        make_nobody(by=None, person=person, notes=entry.notes, at=parse_time(entry.at))
        return
    study = Study.objects.get(pk=found.studies[to_study(entry)])
    decision = withdraw(study, person)
    ConsentDecision.objects.filter(pk=decision.pk).update(created_at=parse_time(entry.at))


def withdraw(study: Study, person: User) -> ConsentDecision:
    """Who had no part in the study yet is only kept from coming in."""
    if consents.is_participant(study, person):
        return consents.withdraw(by=None, study=study, annotator=person)
    return ConsentDecision.objects.create(
        study=study, annotator=person, decision=ConsentDecision.Decision.WITHDRAWN, erased=0
    )


def not_applied() -> list[WithdrawalEntry]:
    """Entries of the list of which the database does not know, though account and study are in it."""
    entries = the_list().entries
    return list_owed(entries, find_here(entries))
