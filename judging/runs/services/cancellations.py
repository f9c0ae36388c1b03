"""The batches of stopped runs are taken back: the database says which, a message carries the id of one."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.db.models import Q, QuerySet
from django.utils import timezone

from core.jobs import leases
from core.jobs.heartbeat import is_unheld
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeRun

TASK = "judging.cancel_batch"
send = partial(leases.send, TASK)
UNATTENDED = timedelta(seconds=30)


def load_batches_to_cancel() -> QuerySet[JudgeBatch]:
    """Batches out for runs that were stopped, whose part no living process is busy with."""
    return JudgeBatch.objects.filter(
        is_unheld("chunk__"),
        closed_at__isnull=True,
        chunk__run__stopped_at__isnull=False,
    )


def call_back(run: JudgeRun | None = None) -> int:
    """Have the batches of stopped runs taken back: of this one at once, of all where nobody has for a while."""
    seen_to = Q(looked_at__isnull=True) | Q(looked_at__lt=timezone.now() - UNATTENDED)
    found = load_batches_to_cancel().filter(Q(chunk__run=run) if run else seen_to)
    read = list(found.order_by("pk").values_list("pk", "looked_at"))
    rows, now = JudgeBatch.objects, timezone.now()
    mine = [pk for pk, looked_at in read if rows.filter(pk=pk, looked_at=looked_at).update(looked_at=now)]
    send(mine)
    return len(mine)
