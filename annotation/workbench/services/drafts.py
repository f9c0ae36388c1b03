"""Drafts: what is on somebody's page, kept at every press, so that nothing entered is ever lost.

A draft takes part in no figure. What arrives when the slot is gone (its lease ran out and somebody else took it, or the
study was closed) is kept as late, and a researcher decides whether it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from annotation.recruitment.queries import has_withdrawn
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Study
from annotation.studies.queries import asks
from annotation.workbench.services.annotations import possible_time, store, to_store
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.statements import Columns, load


class OvertakenError(InputError):
    """The item was handed in while this was on its way."""


class WithdrawnError(InputError):
    """They withdrew from the study while this was on its way."""


LONGEST = 200_000
"""Characters that a draft may have in all."""

COLUMNS = Columns(Draft)

KEEP = """
INSERT INTO annotation_draft (
    assignment_id, annotator_id, state, content, active_seconds, saved_at, "order", late_reason
)
SELECT slot.id, %(me)s, 'draft', JSON(%(content)s), %(active)s, %(now)s, slot."order", ''
FROM annotation_assignment AS slot
WHERE slot.id = %(slot)s AND slot.annotator_id = %(me)s AND slot.state <> %(overtaken)s LOCKED
ON CONFLICT (assignment_id, annotator_id) DO UPDATE SET
    content = MERGED, active_seconds = GREATEST(annotation_draft.active_seconds, excluded.active_seconds),
    saved_at = excluded.saved_at
WHERE annotation_draft.state = 'draft' AND length(CAST(MERGED AS text)) <= %(longest)s
RETURNING COLUMNS
""".replace("COLUMNS", COLUMNS.render("annotation_draft"))  # nosec B608 # names of columns

ON_POSTGRESQL = (
    KEEP.replace("JSON(%(content)s)", "%(content)s::jsonb")
    .replace("LOCKED", "FOR NO KEY UPDATE OF slot")
    .replace("MERGED", "annotation_draft.content || excluded.content")
)
ELSEWHERE = (
    KEEP.replace("LOCKED", "")
    .replace("MERGED", "json_patch(annotation_draft.content, excluded.content)")
    .replace("GREATEST", "max")
)


def save(*, by: User, assignment: Assignment, changes: Mapping[str, str], active_seconds: float) -> Draft:
    """Keep what changed on their page; the rest of the draft stays, so that two windows do not undo each other.

    `changes` maps names of inputs to what is in them.
    """
    check_length(changes)
    now = timezone.now()
    spent = possible_time(assignment, active_seconds, now)
    return update_draft(by, assignment, changes, spent, now) or save_draft_carefully(
        by, assignment, changes, spent, now
    )


def update_draft(
    by: User, assignment: Assignment, changes: Mapping[str, str], spent: float, now: datetime
) -> Draft | None:
    """The draft as it nearly always goes: the slot is theirs, the item not handed in meanwhile, and not too long.

    One statement locks the slot and stores. It does nothing in any other case.
    """
    submitted = Assignment.State.SUBMITTED
    given = {
        "me": by.pk,
        "slot": assignment.pk,
        "content": json.dumps(changes, ensure_ascii=False),
        "active": spent,
        "now": now,
        "overtaken": submitted if assignment.state != submitted else "",
        "longest": LONGEST,
    }
    found = load(ON_POSTGRESQL if connection.vendor == "postgresql" else ELSEWHERE, given, COLUMNS)
    return found[0] if found else None


def save_draft_carefully(
    by: User, assignment: Assignment, changes: Mapping[str, str], spent: float, now: datetime
) -> Draft:
    """The draft where something is not as usual. Raises the InputError that says what."""
    with transaction.atomic():
        check_participation(by, assignment)
        draft, _ = Draft.objects.select_for_update().get_or_create(
            assignment=assignment, annotator=by, defaults={"saved_at": now, "order": assignment.order}
        )
        if draft.state != Draft.State.DRAFT:
            return draft
        draft.content = {**draft.content, **changes}
        check_length(draft.content)
        draft.active_seconds = max(draft.active_seconds, spent)
        draft.saved_at = now
        draft.save(update_fields=["content", "active_seconds", "saved_at"])
    return draft


def check_participation(by: User, assignment: Assignment) -> None:
    """Lock the slot, and raise WithdrawnError or OvertakenError where what they send is not to be kept any more.

    Withdrawal erases what somebody gave: it locks the person before all, and then the slots that it frees. A slot that
    is still theirs is locked here until the draft is stored. So a withdrawal at the same moment either has come before
    and is seen, or comes after and erases the draft as well.
    """
    theirs = Assignment.objects.select_for_update(no_key=True).filter(pk=assignment.pk, annotator=by)
    state = next(iter(theirs.values_list("state", flat=True)), None)
    if state == Assignment.State.SUBMITTED != assignment.state:
        raise OvertakenError("This item has been handed in meanwhile.")
    if state:
        return
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    if has_withdrawn(assignment.study, by):
        raise WithdrawnError("You have withdrawn from this study, and nothing more of yours is kept.")


def check_length(content: Mapping[str, str]) -> None:
    if sum(map(len, content.values())) > LONGEST:
        raise InputError("An item takes at most {most} characters of notes.", most=f"{LONGEST:,}")


def keep_late(*, by: User, assignment: Assignment, content: Mapping[str, str], reason: str) -> Draft:
    """Keep complete answers that arrived when the slot could not take them, for a researcher to decide on.

    Sending them again replaces them, as long as nobody has decided.
    """
    check_length(content)
    late = {
        "state": Draft.State.LATE,
        "content": dict(content),
        "order": assignment.order,
        "late_reason": reason,
        "saved_at": timezone.now(),
    }
    with transaction.atomic():
        check_participation(by, assignment)
        draft, is_new = Draft.objects.select_for_update().get_or_create(
            assignment=assignment, annotator=by, defaults=late
        )
        if not is_new and draft.decided_at is None:
            for field, value in late.items():
                setattr(draft, field, value)
            draft.save(update_fields=list(late))
    return draft


@audited("late_answers.use", on="draft")
def use_late(*, by: User, draft: Draft) -> Assignment:
    """Store late answers as labels: in their own slot, in a free one of the item, or in one more than was planned.

    The last is the researcher's deliberate choice and the only way in which an item gets more ratings than planned.
    """
    slot = draft.assignment
    with transaction.atomic():
        now = decide(by, draft, Draft.State.USED)
        taken = find_assignment_for_late(draft)
        taken.order = draft.order  # the answers name sides as they were shown
        asked = asks.asks(slot, slot.study.asked)
        labels = to_store(taken, asked, **asks.group_by_kind(asked, draft.content))
        taken.annotator, taken.state, taken.leased_until = draft.annotator, Assignment.State.SUBMITTED, None
        taken.started_at = taken.started_at or draft.saved_at
        taken.submitted_at = taken.submitted_at or now
        taken.active_seconds = draft.active_seconds or None
        taken.save()
        store(taken, labels)
    return taken


@audited("late_answers.dismiss", on="draft")
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


def find_assignment_for_late(draft: Draft) -> Assignment:
    """The slot of the item that the late annotator holds, else a free one, else a new one behind the others.

    What was made for one person alone, a check for example, is theirs as it is.
    """
    Study.objects.select_for_update().get(pk=draft.assignment.study_id)
    if draft.assignment.purpose != Assignment.Purpose.RATING:
        return Assignment.objects.select_for_update().get(pk=draft.assignment_id)
    slots = Assignment.objects.select_for_update().filter(
        item=draft.assignment.item_id, purpose=Assignment.Purpose.RATING
    )
    mine = slots.filter(annotator=draft.annotator).first()
    free = slots.filter(state=Assignment.State.OPEN).order_by("slot").first()
    if found := mine or free:
        return found
    last = slots.order_by("-slot").first() or draft.assignment
    old = draft.assignment
    return Assignment(study_id=old.study_id, item_id=old.item_id, slot=last.slot + 1, rank=old.rank)
