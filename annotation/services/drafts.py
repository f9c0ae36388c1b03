"""Drafts: what is on somebody's page, kept at every press, so that nothing entered is ever lost.

A draft takes part in no figure. What arrives when the slot is gone (its lease ran out and somebody else took it, or the
study was closed) is kept as late, and a researcher decides whether it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.errors import InputError
from annotation.models import Assignment, Draft, Study, User
from annotation.queries import rating
from annotation.services.annotations import possible_time, store, to_store

LONGEST = 200_000
"""Characters that a draft may have in all."""


def save(*, by: User, assignment: Assignment, changes: Mapping[str, str], active_seconds: float) -> Draft:
    """Keep what changed on their page; the rest of the draft stays, so that two windows do not undo each other.

    `changes` maps names of inputs to what is in them.
    """
    now = timezone.now()
    with transaction.atomic():
        draft, _ = Draft.objects.select_for_update().get_or_create(
            assignment=assignment, annotator=by, defaults={"saved_at": now}
        )
        if draft.state != Draft.State.DRAFT:
            return draft
        draft.content = {**draft.content, **changes}
        check_length(draft.content)
        draft.active_seconds = max(draft.active_seconds, possible_time(assignment, active_seconds, now))
        draft.saved_at = now
        draft.save(update_fields=["content", "active_seconds", "saved_at"])
    return draft


def check_length(content: Mapping[str, str]) -> None:
    if sum(map(len, content.values())) > LONGEST:
        raise InputError(f"An item takes at most {LONGEST:,} characters of notes.")


def keep_late(*, by: User, assignment: Assignment, content: Mapping[str, str], reason: str) -> Draft:
    """Keep complete answers that arrived when the slot could not take them, for a researcher to decide on.

    Sending them again replaces them, as long as nobody has decided.
    """
    check_length(content)
    late = {"state": Draft.State.LATE, "content": dict(content), "late_reason": reason, "saved_at": timezone.now()}
    with transaction.atomic():
        draft, is_new = Draft.objects.select_for_update().get_or_create(
            assignment=assignment, annotator=by, defaults=late
        )
        if not is_new and draft.decided_at is None:
            for field, value in late.items():
                setattr(draft, field, value)
            draft.save(update_fields=list(late))
    return draft


def use_late(*, by: User, draft: Draft) -> Assignment:
    """Store late answers as labels: in their own slot, in a free one of the item, or in one more than was planned.

    The last is the researcher's deliberate choice and the only way in which an item gets more ratings than planned.
    """
    slot = draft.assignment
    with transaction.atomic():
        now = decide(by, draft, Draft.State.USED)
        taken = slot_to_use(draft)
        taken.order = taken.order if taken.pk == slot.pk else slot.order  # the answers name sides as they were shown
        criteria = list(slot.study.criteria.all())
        labels = to_store(taken, criteria, **rating.by_kind(criteria, draft.content))
        taken.annotator, taken.state, taken.leased_until = draft.annotator, Assignment.State.SUBMITTED, None
        taken.started_at = taken.started_at or draft.saved_at
        taken.submitted_at = taken.submitted_at or now
        taken.active_seconds = draft.active_seconds or None
        taken.save()
        store(labels)
    return taken


def dismiss(*, by: User, draft: Draft) -> None:
    """Leave late answers out. They are kept, with who decided and when."""
    with transaction.atomic():
        decide(by, draft, Draft.State.DISMISSED)


def decide(by: User, draft: Draft, state: str) -> datetime:
    now = timezone.now()
    late = Draft.objects.filter(pk=draft.pk, state=Draft.State.LATE)
    if not late.update(state=state, decided_by=by, decided_at=now):
        raise InputError("This was decided on already.", field="draft")
    return now


def slot_to_use(draft: Draft) -> Assignment:
    """The slot of the item that the late annotator holds, else a free one, else a new one behind the others."""
    Study.objects.select_for_update().get(pk=draft.assignment.study_id)
    slots = Assignment.objects.select_for_update().filter(item=draft.assignment.item_id)
    mine = slots.filter(annotator=draft.annotator).first()
    free = slots.filter(state=Assignment.State.OPEN).order_by("slot").first()
    if found := mine or free:
        return found
    last = slots.order_by("-slot").first() or draft.assignment
    old = draft.assignment
    return Assignment(study_id=old.study_id, item_id=old.item_id, slot=last.slot + 1, rank=old.rank)
