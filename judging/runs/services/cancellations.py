"""The batches of stopped runs are taken back: the database says which, a message carries the id of one."""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import current_app
from django.db.models import Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from judging.judges.queries.workers import unheld
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeRun

logger = logging.getLogger(__name__)

TASK = "judging.cancel_batch"
UNATTENDED = timedelta(seconds=30)


def load_batches_to_cancel() -> QuerySet[JudgeBatch]:
    """Batches out for runs that were stopped, whose part no living process is busy with."""
    return JudgeBatch.objects.filter(
        unheld("chunk__"),
        closed_at__isnull=True,
        chunk__run__stopped_at__isnull=False,
    )


def call_back(run: JudgeRun | None = None) -> int:
    """Have the batches of stopped runs taken back: of this one at once, of all where nobody has for a while."""
    seen_to = Q(looked_at__isnull=True) | Q(looked_at__lt=timezone.now() - UNATTENDED)
    found = load_batches_to_cancel().filter(Q(chunk__run=run) if run else seen_to)
    sent = 0
    for pk, looked_at in list(found.order_by("pk").values_list("pk", "looked_at")):
        sent += JudgeBatch.objects.filter(pk=pk, looked_at=looked_at).update(looked_at=timezone.now()) and send(pk)
    return sent


def send(batch_id: int) -> int:
    try:
        current_app.send_task(TASK, args=[batch_id])
    except OperationalError:
        logger.exception("The broker cannot be reached. The batch is taken back once a worker can reach it.")
        return 0
    return 1
