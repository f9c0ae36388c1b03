"""Work changes hands by conditional updates: who changes the row has it, and nobody waits for a lock.

A message to the workers only says that there is work: the row says what is left, when it is due, and who holds it.

The database is the truth; messages and processes may vanish at any moment, and lost work is handed out again.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Generic, TypeVar

from celery import current_app
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from core.jobs.backoff import compute_wait
from core.jobs.heartbeat import PREDECESSORS, gone_before, is_unheld, note_gone
from core.jobs.models import AbstractWorker, LeasedRow

logger = logging.getLogger(__name__)

Row = TypeVar("Row", bound=LeasedRow)
Waiting = TypeVar("Waiting", bound=LeasedRow, covariant=True)


def send(task: str, keys: Sequence[int], *, wait: float | None = None) -> None:
    """Send the workers a message for each key. Where the broker is away, the rows stay due and a sweep finds them."""
    try:
        for key in keys:
            current_app.send_task(task, args=[key], countdown=wait)
    except OperationalError:
        logger.exception("The broker cannot be reached. Work goes on by itself once a worker can reach it.")


class WorkQueue(Generic[Waiting]):
    """The rows of one table that workers are told of, and hold while they live."""

    MODEL: type[Waiting]
    TASK: ClassVar[str]
    """The task that works on a row, by its key."""

    LEFT: ClassVar[Q] = Q(finished_at__isnull=True)
    """Which rows are left to do, told by columns of the row itself."""

    LOST_AFTER = timedelta(minutes=1)
    """How long a message may wait before another one is sent: a busy worker reads it late, and two are harmless."""

    def __init__(self) -> None:
        QUEUES.append(self)

    def unfinished(self) -> QuerySet[Waiting]:
        """Rows that are left to do."""
        return self.MODEL._default_manager.filter(self.LEFT)

    def waiting(self, before: datetime | None = None) -> QuerySet[Waiting]:
        """Rows in nobody's hands that are due, or of which workers were told before then."""
        return self.unfinished().filter(worker__isnull=True, queued_at__lte=before or timezone.now())

    def claimable(self) -> QuerySet[Waiting]:
        """Rows that anybody may claim: left, due, and held by no living process."""
        return self.unfinished().filter(is_unheld(), Q(queued_at__isnull=True) | Q(queued_at__lte=timezone.now()))

    def others_wait(self, mine: Q) -> bool:
        """Whether other work than `mine` of this table is due and in nobody's hands."""
        return any((one.waiting().exclude(mine) if one is self else one.waiting()).exists() for one in QUEUES)

    def abandoned(self, of: Q) -> list[int]:
        """Free the rows of processes that are gone, found by `of`. Returns their keys."""
        held = self.unfinished().filter(of).order_by("pk").values_list("pk", "worker")
        rows = self.MODEL._default_manager.filter(finished_at__isnull=True)
        return [pk for pk, worker in held if rows.filter(pk=pk, worker=worker).update(worker=None)]

    def lost(self, before: datetime) -> list[int]:
        """Rows whose message must have been lost: sent before then, and held by nobody."""
        return list(self.waiting(before).order_by("queued_at", "pk").values_list("pk", flat=True))

    def queue(self, keys: Sequence[int]) -> None:
        """Note that messages go out for these rows, and send them once that is committed."""
        with transaction.atomic():
            self.MODEL._default_manager.filter(pk__in=keys).update(queued_at=timezone.now())
            transaction.on_commit(lambda: self.send(keys))

    def send(self, keys: Sequence[int], *, wait: float | None = None) -> None:
        """Send a message for each row."""
        send(self.TASK, keys, wait=wait)


QUEUES: list[WorkQueue[LeasedRow]] = []
"""All tables of work."""


class Leases(WorkQueue[Row]):
    """The leases of one table whose rows are claimed one by one."""

    RELATED: ClassVar[Sequence[str]] = ()
    MOST_ATTEMPTS = 10

    def free(self, pk: int) -> Row | None:
        """The row if anybody may claim it."""
        return self.claimable().select_related(*self.RELATED).filter(pk=pk).first()

    def claim(self, pk: int, worker: AbstractWorker) -> Row | None:
        """The row, now held by `worker`; None if it is over, not due yet, or in other hands.

        A process that stood still for so long that it counts as gone still holds its rows: it does not claim them
        again. The update names only columns of the row itself, as it was read: a database that makes it wait for
        another claimant then looks at the row again, which it would not do for a condition on other tables.
        """
        row = self.free(pk)
        if row is None or row.worker_id == worker.pk:
            return None
        unchanged = self.MODEL._default_manager.filter(
            self.LEFT, pk=pk, worker=row.worker_id, attempts=row.attempts, queued_at=row.queued_at
        )
        if row.attempts >= self.MOST_ATTEMPTS:
            self.give_up(row, unchanged)
            return None
        if not unchanged.update(worker=worker, attempts=F("attempts") + 1):
            return None
        row.worker_id, row.attempts = worker.pk, row.attempts + 1
        return row

    @abstractmethod
    def give_up(self, row: Row, unchanged: QuerySet[Row]) -> None:
        """Close a row that ended early too often: it kills its process, or the service stays away."""

    @staticmethod
    def say_given_up(attempts: int, error: str) -> str:
        """Say why a row was given up."""
        return f"Given up after {attempts} attempts. {error or 'The process that worked on it ended each time.'}"

    def filter_held(self, row: Row, worker: AbstractWorker) -> QuerySet[Row]:
        """The row itself, while `worker` holds it and it is left to do."""
        return self.MODEL._default_manager.filter(self.LEFT, pk=row.pk, worker=worker.pk)

    def release(self, row: Row, worker: AbstractWorker) -> None:
        """Let go of a row that is not finished, through no fault of the row. It may have been stopped."""
        held = self.MODEL._default_manager.filter(pk=row.pk, worker=worker.pk, finished_at__isnull=True)
        held.update(worker=None, attempts=F("attempts") - 1)

    def postpone(self, row: Row, worker: AbstractWorker, *, error: str, retry_after: float | None) -> None:
        """Try the rest later: after the time asked for, or twice as long each time."""
        wait = compute_wait(row.attempts, retry_after)
        due = timezone.now() + timedelta(seconds=wait)
        if self.filter_held(row, worker).update(worker=None, error=error, queued_at=due):
            logger.warning("%s waits %.0f s: %s", row, wait, error)
            self.send([row.pk], wait=wait)

    def put_off(self, row: Row, worker: AbstractWorker, *, seconds: float, error: str = "") -> None:
        """Hand a row back for a while, through no fault of its own: that counts as no attempt."""
        due = timezone.now() + timedelta(seconds=seconds)
        back = self.filter_held(row, worker)
        if back.update(worker=None, attempts=F("attempts") - 1, queued_at=due, error=error):
            self.send([row.pk], wait=seconds)


Queues = Sequence[WorkQueue[LeasedRow]]


def sweep(workers: type[AbstractWorker], queues: Queues) -> int:
    """Hand out again what nobody works on. Returns how many rows. Any number of processes may do so at once."""
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


def hand_out(queue: WorkQueue[LeasedRow], keys: Sequence[int]) -> int:
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
