"""Leaving an annotator's labels out of a study, and taking them in again. Both are on record; no label is touched."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.studies.models.labels import Exclusion
from annotation.studies.models.studies import Study
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

LONGEST_REASON = 10_000


@audited("annotator.exclude", on="annotator")
def exclude(*, by: User, study: Study, annotator: User, reason: str) -> Exclusion:
    """From now on nothing is computed from the annotator's labels, and they are given no more items.

    What they have in work or skipped goes to the others.
    """
    why = _checked(reason)
    if not study.annotators.contains(annotator):
        raise InputError(
            "{annotator} is not an annotator of {study}.", field="annotator", annotator=annotator, study=study
        )
    try:
        with transaction.atomic():
            made = Exclusion.objects.create(study=study, annotator=annotator, reason=why, decided_by=by)
            assignments.release(by=by, study=study, annotator=annotator)
    except IntegrityError as error:
        raise InputError("{annotator} is excluded already.", field="annotator", annotator=annotator) from error
    return made


@audited("annotator.readmit", on="annotator")
def readmit(*, by: User, study: Study, annotator: User, reason: str) -> Exclusion:
    """The annotator's labels count again, and items are handed out to them again."""
    why = _checked(reason)
    with transaction.atomic():
        holding = Exclusion.objects.filter(study=study, annotator=annotator, ended_at=None)
        if not holding.update(ended_by=by, ended_at=timezone.now(), end_reason=why):
            raise InputError("{annotator} is not excluded.", field="annotator", annotator=annotator)
        return Exclusion.objects.filter(study=study, annotator=annotator).latest("ended_at")


def _checked(reason: str) -> str:
    if not reason.strip() or "\0" in reason or len(reason) > LONGEST_REASON:
        raise InputError(
            "Say why, in at most {longest_reason:,} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    return reason.strip()
