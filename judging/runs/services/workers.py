"""Signs of life: a process that works on runs says every few seconds that it is there."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import timedelta
from threading import Event, Thread

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from core.processes import Process, machine
from judging.judges.models.workers import Worker
from judging.judges.queries.workers import clock_was_ahead, compute_gone_before

logger = logging.getLogger(__name__)


def register(*, slots: int) -> Worker:
    """A row for this process. `slots` is how many parts it takes from the queue at a time."""
    worker = build_worker(slots=slots)
    report(worker)
    return worker


def register_soon(*, slots: int) -> Worker:
    """The same, where the database may be away just now: then its heart makes the row once it is back."""
    worker = build_worker(slots=slots)
    try:
        report(worker)
    except Error:
        logger.warning("The database is away; this worker says that it is there once it is back.", exc_info=True)
    return worker


def build_worker(*, slots: int) -> Worker:
    """What the row of this process holds, without the row."""
    name = f"{socket.gethostname()[:150]}/{os.getpid()}/{secrets.token_hex(4)}"
    process = Process.current()
    return Worker(name=name, slots=slots, machine=process.machine, pid=process.pid, started=process.started)


def report(worker: Worker) -> None:
    """Say that it lives. Makes the row again if somebody tidied it away while the machine slept."""
    now = timezone.now()
    if worker._state.adding:
        worker.seen_at = now
        worker.save()
        return
    if not Worker.objects.filter(pk=worker.pk).update(seen_at=now):
        again = copy(worker)
        again.seen_at = now
        Worker.objects.bulk_create([again], ignore_conflicts=True)


def sign_off(worker: Worker) -> None:
    """It ended as it should: what it still held is free at once."""
    Worker.objects.filter(pk=worker.pk).delete()


def note_gone(within: timedelta) -> list[int]:
    """Find the processes that have ended on this machine, of those seen lately, and let them count as gone at once.

    One seen in the future is left alone: the clock was set back, which is dealt with first.
    """
    now = timezone.now()
    seen = Worker.objects.filter(machine=machine(), seen_at__gte=now - within, seen_at__lte=now + SET_BACK)
    gone = [one for one in seen.exclude(machine="") if Process(one.machine, one.pid, one.started).is_gone]
    for one in gone:
        still = Worker.objects.filter(pk=one.pk, seen_at=one.seen_at, seen_at__gte=compute_gone_before())
        still.update(seen_at=compute_gone_before() - SET_BACK)
    return [one.pk for one in gone]


def note_gone_lately() -> None:
    """As `note_gone`, of those that do not count as gone yet."""
    note_gone(timedelta(seconds=settings.WORKER_GONE_SECONDS))


PREDECESSORS = timedelta(hours=1)
"""How long ago those were seen whose work a worker takes over when it starts."""

SET_BACK = timedelta(minutes=1)
"""A clock that is set back by less is waited for; by more, what is to be done later is moved with it."""


def find_clock_setback() -> timedelta:
    """By how much at least the clock was set back while nobody was there to see it; zero where that is unknown."""
    try:
        return clock_was_ahead()
    except Error:
        logger.warning("The database is away: whether the clock was set back is not known.", exc_info=True)
        return timedelta()


class Heartbeat(Thread):
    """Reports for a worker from a thread with a connection of its own, and then looks after `also`.

    `first` is done at once. A database that is locked or away is waited for. After a stall `also` sits out a round, so
    that everybody else can report before anybody is declared gone. `set_back` is told by how much the clock was set
    back since the last round; in the first one that is `before`.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        first: Callable[[], object] | None = None,
        also: Callable[[], object] | None = None,
        set_back: Callable[[timedelta], object] | None = None,
        before: timedelta = timedelta(),
    ) -> None:
        super().__init__(name=f"heart of {worker.name}", daemon=True)
        self.worker, self.first, self.also, self.set_back, self.ended = worker, first, also, set_back, Event()
        self.last = time.time() + before.total_seconds()

    def run(self) -> None:
        if self.first:
            self.attempt(self.first)
        while not self.ended.wait(settings.WORKER_BEAT_SECONDS):
            self.attempt(self.beat)

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Error:
            logger.warning("The database did not take a sign of life; trying again.", exc_info=True)
        finally:
            connection.close()

    def beat(self) -> None:
        report(self.worker)
        passed = time.time() - self.last
        if self.set_back and -passed > SET_BACK.total_seconds():
            self.set_back(timedelta(seconds=-passed))
        stalled = passed > max(settings.WORKER_GONE_SECONDS / 2, 2 * settings.WORKER_BEAT_SECONDS)
        self.last = time.time()
        if self.also and not stalled:
            self.also()

    def end(self) -> None:
        """Stop reporting, and wait for a report that is on its way."""
        self.ended.set()
        if self.is_alive():
            self.join(timeout=settings.WORKER_BEAT_SECONDS + 5)


@contextmanager
def keep_alive(*, slots: int = 0) -> Iterator[Worker]:
    """This process is known to be alive for as long as the block lasts."""
    worker = register(slots=slots)
    heart = Heartbeat(worker)
    heart.start()
    try:
        yield worker
    finally:
        heart.end()
        sign_off(worker)
