"""Lost work is handed out again. The database is the truth; messages and processes may vanish at any moment."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from core.jobs.heartbeat import PREDECESSORS, gone_before, note_gone
from core.jobs.leases import WorkQueue
from core.jobs.models import AbstractWorker

logger = logging.getLogger(__name__)

Queues = Sequence[WorkQueue[Any]]


def sweep(workers: type[AbstractWorker], queues: Queues) -> int:
    """Hand out again what nobody works on. Any number of processes may do this at once. Returns how many rows."""
    note_gone(workers)
    of_gone, now = Q(worker__seen_at__lt=gone_before()), timezone.now()
    return sum(hand_out(one, [*one.abandoned(of_gone), *one.lost(now - one.LOST_AFTER)]) for one in queues)


def take_over(workers: type[AbstractWorker], queues: Queues) -> int:
    """Hand out at once what processes held, or were told of, that have ended on this machine. Returns how many rows.

    A worker does this when it starts: were it to wait until its predecessor counts as gone, one that is killed again
    and again before that would get nothing done.
    """
    if not (gone := note_gone(workers, PREDECESSORS)):
        return 0
    of_gone, now = Q(worker__in=gone), timezone.now()
    return sum(hand_out(one, [*one.abandoned(of_gone), *one.lost(now)]) for one in queues)


def hand_out(queue: WorkQueue[Any], keys: Sequence[int]) -> int:
    found = list(dict.fromkeys(keys))
    if found:
        logger.info("Handing out %s of %s again.", len(found), queue.MODEL._meta.verbose_name_plural)
        queue.queue(found)
    return len(found)


def set_back(workers: type[AbstractWorker], queues: Queues, by: timedelta) -> None:
    """The clock was set back: what was to be done later is due that much earlier, and who was seen then may be gone.

    Without this, work whose message or process was lost would wait until the clock is where it was.
    """
    now = timezone.now()
    logger.warning("The clock was set back by %s: what is due later is moved with it.", by)
    workers._default_manager.filter(seen_at__gt=now).update(seen_at=now)
    for one in queues:
        one.unfinished().filter(queued_at__gt=now).update(queued_at=F("queued_at") - by)
