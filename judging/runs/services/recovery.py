"""Lost work is handed out again. The database is the truth; messages and processes may vanish at any moment."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, Sum
from django.utils import timezone

from annotation.studies.services import webhooks
from annotation.workbench.services import overlap
from judging.judges.models.workers import Worker
from judging.judges.queries.workers import alive, compute_gone_before
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.services import cancellations, leases, workers

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER = timedelta(days=1)


def sweep() -> int:
    """Hand out again what nobody works on. Any number of processes may do this at once. Returns how many parts."""
    workers.note_gone_lately()
    n = hand_out([*free_abandoned(Q(worker__seen_at__lt=compute_gone_before())), *unheard(compute_gone_before())])
    finish_runs()
    cancellations.call_back()
    webhooks.send_due()
    overlap.send_due()
    Worker.objects.filter(seen_at__lt=timezone.now() - FORGOTTEN_AFTER).delete()
    return n


def take_over() -> int:
    """Hand out at once what processes held, or were told of, that have ended on this machine. Returns how many parts.

    A worker does this when it starts: were it to wait until its predecessor counts as gone, one that is killed again
    and again before that would get nothing done.
    """
    gone = workers.note_gone(workers.PREDECESSORS)
    return hand_out([*free_abandoned(Q(worker__in=gone)), *unheard(timezone.now())]) if gone else 0


def hand_out(parts: Iterable[int]) -> int:
    found = list(dict.fromkeys(parts))
    if found:
        logger.info("Handing out %s parts again.", len(found))
        leases.queue(found)
    return len(found)


def move_due_times(by: timedelta) -> None:
    """The clock was set back: what was to be done later is due that much earlier, and who was seen then may be gone.

    Without this, parts whose message or process was lost would wait until the clock is where it was.
    """
    now = timezone.now()
    logger.warning("The clock was set back by %s: what is due later is moved with it.", by)
    Worker.objects.filter(seen_at__gt=now).update(seen_at=now)
    leases.list_unfinished().filter(queued_at__gt=now).update(queued_at=F("queued_at") - by)


def free_abandoned(of: Q) -> list[int]:
    """Free the parts of processes that are gone."""
    held = leases.list_unfinished().filter(of).values_list("pk", "worker")
    return [
        pk
        for pk, worker in held
        if JudgeChunk.objects.filter(pk=pk, worker=worker, finished_at__isnull=True).update(worker=None)
    ]


def unheard(before: datetime) -> list[int]:
    """Parts whose message must have been lost: queued before then, held by nobody, while a worker has nothing to do."""
    spare = count_spare_slots()
    if spare <= 0:
        return []
    waiting = leases.list_unfinished().filter(worker__isnull=True, queued_at__lt=before)
    return list(waiting.order_by("queued_at", "pk").values_list("pk", flat=True)[: 4 * spare])


def count_spare_slots() -> int:
    """How many more parts the living workers could be working on."""
    slots = alive().aggregate(total=Sum("slots"))["total"] or 0
    return slots - leases.list_unfinished().filter(worker__seen_at__gte=compute_gone_before()).count()


def finish_runs() -> None:
    """Finish the runs whose process ended between the last part and that."""
    left = JudgeChunk.objects.filter(run=OuterRef("pk"), finished_at__isnull=True)
    for run in JudgeRun.objects.filter(~Exists(left), finished_at__isnull=True, stopped_at__isnull=True):
        leases.finish_run(run.pk)
