"""Stores what is handed in, all of it or nothing, by two statements on PostgreSQL and by three elsewhere.

They are written out, as sixty people wait for them at once (`core.statements`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime

from django.db import connection, transaction

from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.labels import Annotation
from core.accounts.models.users import User
from core.statements import execute, row

SUBMIT = """
    UPDATE annotation_assignment
    SET state = 'submitted', leased_until = NULL, submitted_at = coalesce(submitted_at, %(now)s),
        active_seconds = coalesce(%(active)s, active_seconds)
    WHERE id = %(slot)s AND annotator_id = %(me)s AND state IN ('leased', %(or_skipped)s, %(or_submitted)s)
        AND EXISTS (
            SELECT 1 FROM annotation_study
            WHERE annotation_study.id = annotation_assignment.study_id AND annotation_study.state = 'open'
        )
"""

INTO = """
    INSERT INTO annotation_annotation (
        assignment_id, criterion_id, turn, value, content, strength, unscored_reason, note, evidence,
        guideline_version, created_at, updated_at
    )
"""

INSTEAD = """
    ON CONFLICT (assignment_id, criterion_id, turn) DO UPDATE SET
        value = excluded.value, content = excluded.content, strength = excluded.strength,
        unscored_reason = excluded.unscored_reason,
        note = excluded.note, evidence = excluded.evidence, guideline_version = excluded.guideline_version,
        updated_at = excluded.updated_at
"""

WITH_LABELS = f"""
WITH slot AS ({SUBMIT} RETURNING id),
labels AS (
    {INTO}
    SELECT slot.id, given.criterion, given.turn, given.value, given.content, given.strength, given.reason, given.note,
        given.evidence, given.version, %(now)s, %(now)s
    FROM slot CROSS JOIN jsonb_to_recordset(%(labels)s::jsonb) AS given (
        criterion bigint, turn smallint, value text, content jsonb, strength text, reason text, note text,
        evidence jsonb, version smallint
    )
    {INSTEAD}
)
SELECT id FROM slot
"""  # noqa: S608 # nosec B608 # parts of this file are put together; what comes from outside are parameters

LABELS = f"""
    {INTO}
    SELECT
        %(slot)s, json_extract(given.value, '$.criterion'), json_extract(given.value, '$.turn'),
        json_extract(given.value, '$.value'), json_extract(given.value, '$.content'),
        json_extract(given.value, '$.strength'), json_extract(given.value, '$.reason'),
        json_extract(given.value, '$.note'), json_extract(given.value, '$.evidence'),
        json_extract(given.value, '$.version'), %(now)s, %(now)s
    FROM json_each(%(labels)s) AS given
    WHERE true
    {INSTEAD}
"""  # noqa: S608 # nosec B608 # as above

DRAFT = "DELETE FROM annotation_draft WHERE assignment_id = %(slot)s AND annotator_id = %(me)s AND decided_at IS NULL"


def submit_labels(
    by: User, assignment: Assignment, labels: Sequence[Annotation], *, active_seconds: float | None, now: datetime
) -> bool:
    """Mark the slot submitted, store its labels in place of older ones, and drop its draft.

    False, and nothing changes, if the slot is not theirs any more or its study not open. What comes before the work is
    answered once; the first time of submission stays.
    """
    more_than_once = assignment.purpose in WORK
    given: dict[str, object] = {
        "slot": assignment.pk,
        "me": by.pk,
        "now": now,
        "active": active_seconds,
        "or_skipped": "skipped" if more_than_once else "leased",
        "or_submitted": "submitted" if more_than_once else "leased",
    }
    as_json = {"labels": json.dumps([columns(label) for label in labels], ensure_ascii=False)}
    with nullcontext() if connection.in_atomic_block else transaction.atomic():
        if connection.vendor == "postgresql":
            if not row(WITH_LABELS, given | as_json):
                return False
        else:
            if not execute(SUBMIT, given):
                return False
            execute(LABELS, given | as_json)
        # By itself: a statement that waited for the slot does not see a draft that was kept there meanwhile.
        execute(DRAFT, given)
    return True


def columns(label: Annotation) -> dict[str, object]:
    return {
        "criterion": label.criterion_id,
        "turn": label.turn,
        "value": label.value,
        "content": label.content,
        "strength": label.strength,
        "reason": label.unscored_reason,
        "note": label.note,
        "evidence": label.evidence,
        "version": label.guideline_version,
    }
