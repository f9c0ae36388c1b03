"""Signs of life: a process that holds work says every few seconds that it is there.

The table of processes belongs to an app, which passes its model in.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import TypeVar

from django.conf import settings
from django.db import Error, connection
from django.db.models import Max, Q
from django.utils import timezone

from core.audit.models import Act
from core.jobs.models import AbstractWorker
from core.processes import Process, machine

logger = logging.getLogger(__name__)

W = TypeVar("W", bound=AbstractWorker)

PREDECESSORS = timedelta(hours=1)
"""How long ago those were seen whose work a worker takes over when it starts."""

SET_BACK = timedelta(minutes=1)
"""A clock that is set back by less is waited for; by more, what is to be done later is moved with it."""


def gone_before() -> datetime:
    """A process last seen before this moment counts as gone."""
    return timezone.now() - timedelta(seconds=settings.WORKER_GONE_SECONDS)


def is_held() -> Q:
    """Of work: a living process holds it."""
    return Q(worker__seen_at__gte=gone_before())


def is_unheld(path: str = "") -> Q:
    """Of work that is found under `path`: no living process holds it."""
    return Q(**{f"{path}worker__isnull": True}) | Q(**{f"{path}worker__seen_at__lt": gone_before()})


def register(table: type[W], *, slots: int) -> W:
    """Make a row for this process. `slots` is how many parts it takes from the queue at a time."""
    worker = build_worker(table, slots=slots)
    report(worker)
    return worker


def register_soon(table: type[W], *, slots: int) -> W:
    """Do the same where the database may be away just now: then the heartbeat makes the row once it is back."""
    worker = build_worker(table, slots=slots)
    try:
        report(worker)
    except Error:
        logger.warning("The database is away; this worker says that it is there once it is back.", exc_info=True)
    return worker


def build_worker(table: type[W], *, slots: int) -> W:
    """Build the row of this process without saving it."""
    name = f"{socket.gethostname()[:150]}/{os.getpid()}/{secrets.token_hex(4)}"
    process = Process.current()
    return table(name=name, slots=slots, machine=process.machine, pid=process.pid, started=process.started)


def report(worker: AbstractWorker) -> None:
    """Say that it lives. Makes the row again if somebody tidied it away while the machine slept."""
    now, rows = timezone.now(), type(worker)._default_manager
    if worker._state.adding:
        worker.seen_at = now
        worker.save()
    elif not rows.filter(pk=worker.pk).update(seen_at=now):
        again = copy(worker)
        again.seen_at = now
        rows.bulk_create([again], ignore_conflicts=True)


def sign_off(worker: AbstractWorker) -> None:
    """It ended as it should: what it still held is free at once."""
    type(worker)._default_manager.filter(pk=worker.pk).delete()


def note_gone(table: type[AbstractWorker], within: timedelta | None = None) -> list[int]:
    """Find the processes that have ended on this machine, of those seen lately, and let them count as gone at once.

    Without `within`, of those that do not count as gone yet. One seen in the future is left alone: the clock was set
    back, which is dealt with first.
    """
    now, rows = timezone.now(), table._default_manager
    since = gone_before() if within is None else now - within
    seen = rows.filter(machine=machine(), seen_at__gte=since, seen_at__lte=now + SET_BACK)
    gone = [one for one in seen.exclude(machine="") if Process(one.machine, one.pid, one.started).is_gone]
    for one in gone:
        still = rows.filter(pk=one.pk, seen_at=one.seen_at, seen_at__gte=gone_before())
        still.update(seen_at=gone_before() - SET_BACK)
    return [one.pk for one in gone]


def clock_was_ahead(table: type[AbstractWorker]) -> timedelta:
    """Compute by how much the newest moment that the database knows of is yet to come; zero where it is past.

    It is a worker's sign of life or an act. If it is to come, the clock was set back since, at least by that much.
    """
    now = timezone.now()
    seen = table._default_manager.aggregate(at=Max("seen_at"))["at"]
    done = Act.objects.order_by("-number").values_list("at", flat=True).first()
    return max([timedelta(), *(one - now for one in (seen, done) if one)])


def set_back_before(table: type[AbstractWorker]) -> timedelta:
    """Compute by how much at least the clock was set back while nobody saw it; zero where that is unknown."""
    try:
        return clock_was_ahead(table)
    except Error:
        logger.warning("The database is away: whether the clock was set back is not known.", exc_info=True)
        return timedelta()


class Rounds(Thread):
    """Does something every few seconds, from a thread with a connection of its own, until it is told to end.

    A database that is locked or away is waited for.
    """

    def __init__(self, name: str, act: Callable[[], object], *, seconds: float) -> None:
        super().__init__(name=name, daemon=True)
        self.act, self.seconds, self.ended = act, seconds, Event()

    def run(self) -> None:
        while not self.ended.wait(self.seconds):
            self.attempt(self.act)

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Error:
            logger.warning("The database did not answer %s; trying again.", self.name, exc_info=True)
        finally:
            connection.close()

    def end(self) -> None:
        """Stop, and wait for what is under way."""
        self.ended.set()
        if self.is_alive():
            self.join(timeout=self.seconds + 5)


class Heartbeat(Rounds):
    """Reports for a worker, if there is one, and then looks after `also`. `first` is done at once.

    After a stall `also` sits out a round, so that everybody else can report before anybody is declared gone. `set_back`
    is told by how much the clock was set back since the last round; in the first one that is `before`.
    """

    def __init__(
        self,
        worker: AbstractWorker | None,
        *,
        first: Callable[[], object] | None = None,
        also: Callable[[], object] | None = None,
        set_back: Callable[[timedelta], object] | None = None,
        before: timedelta = timedelta(),
    ) -> None:
        super().__init__(f"heartbeat of {worker or 'nobody'}", self.beat, seconds=settings.WORKER_BEAT_SECONDS)
        self.worker, self.first, self.also, self.set_back = worker, first, also, set_back
        self.last = timezone.now().timestamp() + before.total_seconds()

    def run(self) -> None:
        if self.first:
            self.attempt(self.first)
        super().run()

    def beat(self) -> None:
        if self.worker:
            report(self.worker)
        passed = timezone.now().timestamp() - self.last
        if self.set_back and -passed > SET_BACK.total_seconds():
            self.set_back(timedelta(seconds=-passed))
        stalled = passed > max(settings.WORKER_GONE_SECONDS / 2, 2 * settings.WORKER_BEAT_SECONDS)
        self.last = timezone.now().timestamp()
        if self.also and not stalled:
            self.also()


@contextmanager
def beating(table: type[W], *, slots: int = 0) -> Iterator[W]:
    """Have this process known to be alive for as long as the block lasts."""
    worker = register(table, slots=slots)
    heartbeat = Heartbeat(worker)
    heartbeat.start()
    try:
        yield worker
    finally:
        heartbeat.end()
        sign_off(worker)
