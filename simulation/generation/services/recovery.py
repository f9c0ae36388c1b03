"""Lost work is handed out again. The database is the truth; messages and processes may vanish at any moment."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Event, Thread

from django.conf import settings
from django.db import Error, connection
from django.db.models import F, Q
from django.utils import timezone

from judging.judges.queries.workers import compute_gone_before
from judging.runs.services import workers
from judging.runs.services.workers import SET_BACK, find_clock_setback
from simulation.experiments.models.experiments import Experiment
from simulation.experiments.services import leases
from simulation.generation.models.orders import Making
from simulation.generation.services import generation, seed_runs

logger = logging.getLogger(__name__)

LOST_AFTER = timedelta(minutes=1)
"""How long a message may wait before another one is sent: a busy worker reads it late, and reading two is harmless."""


def sweep() -> int:
    """Send again for what nobody works on. Any number of processes may do this at once. Returns how many."""
    workers.note_gone_lately()
    of_gone = Q(worker__seen_at__lt=compute_gone_before())
    orders = [*generation.free_abandoned(of_gone), *generation.list_lost(timezone.now() - LOST_AFTER)]
    return hand_out([*free_abandoned(of_gone), *unheard()], orders) + seed_runs.advance_all()


def take_over() -> int:
    """Send at once for what processes held, or were told of, that have ended on this machine. Returns how many."""
    gone = workers.note_gone(workers.PREDECESSORS)
    if not gone:
        return 0
    now, of_gone = timezone.now(), Q(worker__in=gone)
    orders = [*generation.free_abandoned(of_gone), *generation.list_lost(now)]
    return hand_out([*free_abandoned(of_gone), *unheard(now + LOST_AFTER)], orders)


def hand_out(experiments: Iterable[int], orders: Iterable[int]) -> int:
    found, orders = list(dict.fromkeys(experiments)), list(dict.fromkeys(orders))
    for pk in found:
        leases.queue(pk)
    for start in range(0, len(orders), generation.AT_ONCE):
        generation.queue(Making.objects.filter(pk__in=orders[start : start + generation.AT_ONCE]))
    if found or orders:
        logger.info("Sending again for %s experiments and %s orders.", len(found), len(orders))
    return len(found) + len(orders)


def move_due_times(by: timedelta) -> None:
    """The clock was set back: messages that were sent, or are to be, count as that much earlier."""
    now = timezone.now()
    leases.list_unfinished().filter(queued_at__gt=now).update(queued_at=F("queued_at") - by)
    Making.objects.filter(finished_at__isnull=True, queued_at__gt=now).update(queued_at=F("queued_at") - by)


def free_abandoned(of: Q) -> list[int]:
    """Free the experiments of processes that are gone."""
    held = leases.list_unfinished().filter(of).values_list("pk", "worker")
    return [pk for pk, worker in held if Experiment.objects.filter(pk=pk, worker=worker).update(worker=None)]


def unheard(now: datetime | None = None) -> list[int]:
    """Experiments whose message must have been lost: queued a while ago, held by nobody."""
    before = (now or timezone.now()) - LOST_AFTER
    waiting = leases.list_unfinished().filter(worker__isnull=True, queued_at__lt=before)
    return list(waiting.order_by("queued_at", "pk").values_list("pk", flat=True))


class Sweeper(Thread):
    """Sweeps every few seconds, from a thread with a connection of its own."""

    def __init__(self) -> None:
        super().__init__(name="sweeper of experiments", daemon=True)
        self.ended = Event()
        self.last = timezone.now() + find_clock_setback()

    def sweep_or_move(self) -> None:
        """Sweep; where the clock was set back since the last time, move what is due later with it."""
        now = timezone.now()
        if self.last - now > SET_BACK:
            move_due_times(self.last - now)
        self.last = now
        sweep()

    def run(self) -> None:
        self.attempt(take_over)
        while not self.ended.wait(settings.WORKER_BEAT_SECONDS):
            self.attempt(self.sweep_or_move)

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Error:
            logger.warning("The database did not answer the sweep; trying again.", exc_info=True)
        finally:
            connection.close()

    def end(self) -> None:
        self.ended.set()
        if self.is_alive():
            self.join(timeout=settings.WORKER_BEAT_SECONDS + 5)
