"""The queue: hands each annotator the next item, so that no item is rated by more than the overlap.

A slot is claimed by one statement that finds the first open one and takes it; if it changed no row, somebody else got
there first. Where the database can skip rows that others have locked, it does, so that people who press "next" at once
do not wait for each other. The constraint of one slot per item and annotator is the last guard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.errors import InputError
from annotation.models import Assignment, Exclusion, Study, User
from annotation.queries import work

LEASE = timedelta(minutes=15)
CANDIDATES = 5  # skipped slots that are read at once
ATTEMPTS = 20
OPEN, LEASED, SKIPPED = Assignment.State.OPEN, Assignment.State.LEASED, Assignment.State.SKIPPED


def add_annotators(*, by: User | None, study: Study, annotators: Iterable[User]) -> None:  # noqa: ARG001
    """Let these people rate the study's items. Those who already do are left as they are."""
    study.annotators.add(*annotators)


def next_for(*, by: User, study: Study, holding: Collection[int] = ()) -> Assignment | None:
    """The slot that `by` should rate now, leased for a quarter of an hour; None when nothing is left for them.

    In this order: what they have in work (also past its lease), the first open slot of an item they do not hold, a
    slot whose lease another let expire, and what they skipped, the longest ago first. `holding` are the ids of slots
    that their page shows or keeps ready already: not those again.
    """
    check(by, study)
    return resumed(by, study, holding) or claimed(by, study) or taken_over(by, study) or back_from_skipped(by, study)


def put_back(*, by: User, assignment: Assignment) -> bool:
    """Free a slot that was kept ready and never worked on. False if there is work on it, or it is not theirs."""
    untouched = Q(~Exists(work.drafts(by).filter(assignment=OuterRef("pk"))), active_seconds=None)
    return bool(
        Assignment.objects.filter(untouched, pk=assignment.pk, annotator=by, state=LEASED).update(
            state=OPEN, annotator=None, leased_until=None, started_at=None
        )
    )


def skip(*, by: User, assignment: Assignment) -> None:
    """Put it off: it stays theirs and comes back when nothing else is left."""
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state=LEASED)
    if not mine.update(state=SKIPPED, leased_until=None):
        raise InputError("Only an item in work can be skipped.", field="assignment")


def renew(*, by: User, assignment: Assignment) -> bool:
    """Start the lease anew while they look at it. False if the slot is not in their work."""
    return bool(
        Assignment.objects.filter(pk=assignment.pk, annotator=by, state=LEASED).update(
            leased_until=timezone.now() + LEASE
        )
    )


def renew_all(*, by: User, study: Study) -> int:
    """Start all their leases in a study anew: what they look at, and what is kept ready. Returns how many."""
    return study.assignments.filter(annotator=by, state=LEASED).update(leased_until=timezone.now() + LEASE)


def release(*, by: User | None, study: Study, annotator: User) -> int:  # noqa: ARG001
    """Give what an annotator has in work or skipped to the others. Returns how many slots that were."""
    return study.assignments.filter(annotator=annotator, state__in=[LEASED, SKIPPED]).update(
        state=OPEN, annotator=None, leased_until=None, started_at=None
    )


def check(by: User, study: Study) -> None:
    if study.state != Study.State.OPEN:
        raise InputError(f"{study} is {study.get_state_display()}: no items are handed out.", field="study")
    excluded = Exclusion.objects.filter(study=study, annotator=OuterRef("pk"), ended_at=None)
    found = study.annotators.filter(pk=by.pk).values_list(Exists(excluded), flat=True).first()
    if found is None:
        raise InputError(f"{by} is not an annotator of {study}.", field="annotator")
    if found:
        raise InputError(f"No more items of {study} are handed out to {by}. Ask who runs the study.", field="annotator")


def resumed(by: User, study: Study, holding: Collection[int]) -> Assignment | None:
    mine = study.assignments.filter(annotator=by, state=LEASED).exclude(pk__in=holding)
    first = mine.order_by("started_at", "rank").first()
    return first if first and renew(by=by, assignment=first) else None


def claimed(by: User, study: Study) -> Assignment | None:
    """The first open slot after the place where they last took one; from the beginning when none is left there.

    Going on from their own place keeps the search from walking past the thousands of items that they hold already.
    """
    place = work.last_taken(by, study)
    ahead = open_slots(by, study).filter(rank__gt=place)
    return first_claimed(by, study, ahead) or (first_claimed(by, study, open_slots(by, study)) if place else None)


def first_claimed(by: User, study: Study, slots: QuerySet[Assignment]) -> Assignment | None:
    """The first of these slots that nobody else gets hold of at the same moment: found and taken by one statement."""
    free = slots
    if connection.features.has_select_for_update_skip_locked:
        free = slots.select_for_update(skip_locked=True, of=("self",))
    for _ in range(ATTEMPTS):
        now = timezone.now()
        first = Assignment.objects.filter(pk=free.values("pk")[:1], state=OPEN)  # "=": it is evaluated once
        try:
            with on_its_own():
                changed = first.update(annotator=by, state=LEASED, started_at=now, leased_until=now + LEASE)
        except IntegrityError:  # in another window they got another slot of the same item
            continue
        if changed:
            return by.assignments.get(study=study, state=LEASED, started_at=now)
        if not slots.exists():
            return None
    return None


def on_its_own() -> AbstractContextManager[Any]:
    """For one statement that may fail or lock: elsewhere a statement is a transaction of its own."""
    needed = connection.in_atomic_block or connection.features.has_select_for_update_skip_locked
    return transaction.atomic() if needed else nullcontext()


def open_slots(by: User, study: Study) -> QuerySet[Assignment]:
    """Open slots of items that they hold no slot of, in the order of the queue."""
    return study.assignments.filter(work.not_held(by), state=OPEN).order_by("rank", "slot")


def claim(by: User, slot: Assignment) -> bool:
    """Take this very slot, if it is open. False if somebody was faster."""
    try:
        with on_its_own():
            return lease(by, slot, Q(state=OPEN, annotator=None))
    except IntegrityError:  # in another window they got another slot of the same item
        return False


def lease(by: User, slot: Assignment, as_read: Q) -> bool:
    """Give them the slot if it is still as it was read."""
    now = timezone.now()
    new = {"annotator": by, "state": LEASED, "started_at": now, "leased_until": now + LEASE}
    if not Assignment.objects.filter(as_read, pk=slot.pk).update(**new):
        return False
    for field, value in new.items():
        setattr(slot, field, value)
    return True


def taken_over(by: User, study: Study) -> Assignment | None:
    """Open the slots whose lease ran out, and claim one. Only now, so that a pause costs nobody their work."""
    expired = study.assignments.filter(work.not_held(by), state=LEASED, leased_until__lt=timezone.now())
    released = expired.update(state=OPEN, annotator=None, leased_until=None, started_at=None)
    return claimed(by, study) if released else None


def back_from_skipped(by: User, study: Study) -> Assignment | None:
    skipped = study.assignments.filter(annotator=by, state=SKIPPED)
    for slot in skipped.order_by("started_at", "rank")[:CANDIDATES]:
        if lease(by, slot, Q(state=SKIPPED, annotator=by)):
            return slot
    return None
