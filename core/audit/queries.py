"""The audit log: found by who, where, what and when; whether its chain holds; and whether every head is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from django.db.models import Q, QuerySet

from core.accounts import permissions
from core.accounts.models.users import User
from core.accounts.queries import find_account
from core.audit.heads import AuditHead, UnknownKeyError
from core.audit.models import BEGINNING, Act
from core.batches import iterate_batches
from core.errors import InputError

NO_KEY = "no event has a keyed digest, though the site makes them: the whole log was rewritten without a key"


@dataclass(frozen=True)
class EventFilter:
    """Criteria of a search in the audit log; an empty one does not narrow it.

    Attributes
    ----------
    person
        A username.
    study
        Name or slug of a study.
    verb
        Such as study.open, or the part before the dot.
    since, until
        The first and the last day (UTC).
    """

    person: str = ""
    study: str = ""
    verb: str = ""
    since: date | None = None
    until: date | None = None


def list_events(wanted: EventFilter, *, seen_by: User | None) -> QuerySet[Act]:
    """Newest first: their own, those of their projects and of the library that all share; all of a superuser.

    A command has no account and sees every event.

    InputError where a person or study is named that there is not.
    """
    rows = Act.objects.select_related("who").order_by("-number")
    if seen_by is not None and not seen_by.is_superuser:
        library = Q(project_id=None, verb__startswith="material.") | Q(project_id=None, verb__startswith="schema.")
        rows = rows.filter(Q(who=seen_by) | Q(project_id__in=permissions.memberships(seen_by)) | library)
    if wanted.person:
        rows = rows.filter(who=find_account(wanted.person, field="person"))
    if wanted.study:
        rows = rows.filter(study_id=study_named(wanted.study, rows))
    if wanted.verb:
        whole = {"verb": wanted.verb} if "." in wanted.verb else {"verb__startswith": f"{wanted.verb}."}
        rows = rows.filter(**whole)
    if wanted.since:
        rows = rows.filter(at__gte=midnight(wanted.since))
    if wanted.until:
        rows = rows.filter(at__lte=datetime.combine(wanted.until, time.max, tzinfo=UTC))
    return rows


def study_named(name: str, rows: QuerySet[Act]) -> int:
    """Its number, where one of the acts is on it; of a study that is gone, that of the newest on one of this name."""
    studies = permissions.study_model()._default_manager
    there = studies.filter(name=name).first() or studies.filter(slug=name).first()
    if there and rows.filter(study_id=there.pk).exists():
        return int(there.pk)
    gone = rows.filter(kind="study", name=name, key__isnull=False).first()
    if gone is None or gone.key is None:
        raise InputError("There is no study {name!r}.", field="study", name=name)
    return gone.key


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def head() -> tuple[int, str]:
    """Number and digest of the newest act: kept elsewhere, they tell whether the end of the log was cut off."""
    return Act.objects.order_by("-number").values_list("number", "digest").first() or (0, BEGINNING)


def find_break() -> tuple[int, str] | None:
    """The number of the first act that does not fit what stands before it, and why. None where all do."""
    number, digest, is_keyed = 0, BEGINNING, False
    for row in Act.objects.order_by("number").iterator(chunk_size=2000):
        if row.number != number + 1:
            return row.number, f"event {number + 1} is missing"
        if row.previous != digest:
            return row.number, f"event {row.number} does not follow the event before it"
        if is_keyed and not row.digest_key_id:
            return row.number, f"event {row.number} has a digest without a key, though the events before it have a key"
        if problem := find_change(row):
            return row.number, problem
        number, digest, is_keyed = row.number, row.digest, bool(row.digest_key_id)
    return None if is_keyed or not number else (number, NO_KEY)


def find_change(row: Act) -> str:
    """Explain why an event does not match its digest; empty if it does."""
    try:
        return "" if row.compute_digest() == row.digest else f"event {row.number} was changed"
    except UnknownKeyError as unknown:
        return (
            f"event {row.number} cannot be checked: its digest was made with key {unknown}, "
            "whose secret this site does not have (CONCORD_AUDIT_KEY)"
        )


RESTORE = "site.restore"
AT_ONCE = 500


@dataclass
class HeadComparison:
    """What the second place knows and the log does not.

    Attributes
    ----------
    lost
        Heads that are not in the log, without a restore that explains it.
    restored
        By restore, the heads that it explains: they were written down before it and stood behind what the backup held.
    """

    lost: list[AuditHead] = field(default_factory=list)
    restored: dict[Act, list[AuditHead]] = field(default_factory=dict)


def compare(heads: Iterable[AuditHead]) -> HeadComparison:
    """Look for every head in the log. The cost is a query for 500 of them."""
    restores, found = list(Act.objects.filter(verb=RESTORE).order_by("number")), HeadComparison()
    for one in find_missing(heads):
        why = next((act for act in restores if act.number <= one.number and one.at <= act.at), None)
        if why:
            found.restored.setdefault(why, []).append(one)
        else:
            found.lost.append(one)
    return found


def find_missing(heads: Iterable[AuditHead]) -> Iterator[AuditHead]:
    """Find heads whose event is missing from the log or differs from it."""
    for some in iterate_batches(heads, AT_ONCE):
        there = dict(Act.objects.filter(number__in=[one.number for one in some]).values_list("number", "digest"))
        yield from (one for one in some if there.get(one.number) != one.digest)


def describe_lost(lost: Sequence[AuditHead]) -> list[str]:
    """What has happened to the log, in a sentence for its end and one for what was written anew."""
    last, _ = head()
    cut = [one for one in lost if one.number > last]
    anew = [one for one in lost if one.number <= last]
    said = []
    if anew:
        first = min(anew, key=lambda one: one.number)
        said.append(
            f"event {first.number} is not the one that {first.file} recorded at {first.at:%Y-%m-%d %H:%M:%S} UTC: "
            "the log was rewritten from there or from before"
        )
    if cut:
        newest = max(cut, key=lambda one: one.number)
        said.append(
            f"the log ends with event {last}, but {newest.file} recorded event {newest.number} at "
            f"{newest.at:%Y-%m-%d %H:%M:%S} UTC: the end was cut off, or the database was put back without `restore`"
        )
    return said


def describe_restored(restore: Act, heads: Sequence[AuditHead]) -> str:
    """Say that events are missing because an older backup was restored."""
    numbers = [one.number for one in heads]
    return (
        f"The site was restored at {restore.at:%Y-%m-%d %H:%M} UTC "
        f"from a backup of {restore.parsed_arguments.get('made_at')}, "
        f"whose log ended with event {restore.parsed_arguments.get('acts')}. Later events, up to {max(numbers)}, "
        "are not in the log."
    )
