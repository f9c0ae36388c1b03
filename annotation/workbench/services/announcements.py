"""Tell webhooks what annotators handed in, and that a study is finished."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from annotation.studies.services import webhooks
from annotation.workbench.queries.overlap import is_due


def announce_submitted(slot: Assignment) -> None:
    """A slot was handed in, or handed in again. One query where nobody listens: people wait for this."""
    if not Webhook.objects.filter(ended_at=None).exists():
        return
    hooks = webhooks.load_active(slot.study.project_id)
    now = timezone.now()
    data = {"study": slot.study.slug, "assignment": slot.pk, "position": slot.position, "purpose": slot.purpose}
    subject = f"assignment {slot.pk} {now.isoformat()}"
    webhooks.tell("label.submitted", project=slot.study.project_id, subject=subject, data=data, hooks=hooks)
    transaction.on_commit(lambda: announce_finished(slot.study))


def announce_finished(study: Study) -> None:
    """Tell that a study is finished, if some webhook asks and it is. Of two last hand-ins the later one sees it.

    A repeat or a check that somebody left lying is no planned rating. An adaptive study may still plan more.
    """
    if study.is_adaptive and is_due(study):
        return
    if not any("study.finished" in hook.events for hook in webhooks.load_active(study.project_id)):
        return
    ratings = study.assignments.filter(purpose=Assignment.Purpose.RATING)
    left = ratings.exclude(state=Assignment.State.SUBMITTED)
    if not left.exists():
        with transaction.atomic():
            data = {"study": study.slug}
            webhooks.tell("study.finished", project=study.project_id, subject=f"study {study.pk}", data=data)
