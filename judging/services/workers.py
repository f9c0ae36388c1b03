"""Signs of life: a process that works on runs says every few seconds that it is there."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from judging.models import Worker
from judging.queries.workers import clock_was_ahead

logger = logging.getLogger(__name__)


def register(*, slots: int) -> Worker:
    """A row for this process. `slots` is how many parts it takes from the queue at a time."""
    worker = named(slots=slots)
    report(worker)
    return worker


def registered_soon(*, slots: int) -> Worker:
    """The same, where the database may be away just now: then its heart makes the row once it is back."""
    worker = named(slots=slots)
    try:
        report(worker)
    except Error:
        logger.warning("The database is away; this worker says that it is there once it is back.", exc_info=True)
    return worker


def named(*, slots: int) -> Worker:
    """What the row of this process holds, without the row."""
    name = f"{socket.gethostname()[:150]}/{os.getpid()}/{secrets.token_hex(4)}"
    return Worker(name=name, slots=slots)


def report(worker: Worker) -> None:
    """Say that it lives. Makes the row again if somebody tidied it away while the machine slept."""
    now = timezone.now()
    if worker._state.adding:
        worker.seen_at = now
        worker.save()
        return
    if not Worker.objects.filter(pk=worker.pk).update(seen_at=now):
        again = Worker(pk=worker.pk, name=worker.name, slots=worker.slots, seen_at=now)
        Worker.objects.bulk_create([again], ignore_conflicts=True)


def sign_off(worker: Worker) -> None:
    """It ended as it should: what it still held is free at once."""
    Worker.objects.filter(pk=worker.pk).delete()


SET_BACK = timedelta(minutes=1)
"""A clock that is set back by less is waited for; by more, what is to be done later is moved with it."""


def set_back_before() -> timedelta:
    """By how much at least the clock was set back while nobody was there to see it; zero where that is unknown."""
    try:
        return clock_was_ahead()
    except Error:
        logger.warning("The database is away: whether the clock was set back is not known.", exc_info=True)
        return timedelta()


class Heart(Thread):
    """Reports for a worker from a thread with a connection of its own, and then looks after `also`.

    A database that is locked or away is waited for. After a stall `also` sits out a round, so that everybody else can
    report before anybody is declared gone. `set_back` is told by how much the clock was set back since the last round;
    in the first one that is `before`.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        also: Callable[[], object] | None = None,
        set_back: Callable[[timedelta], object] | None = None,
        before: timedelta = timedelta(),
    ) -> None:
        super().__init__(name=f"heart of {worker.name}", daemon=True)
        self.worker, self.also, self.set_back, self.ended = worker, also, set_back, Event()
        self.last = time.time() + before.total_seconds()

    def run(self) -> None:
        while not self.ended.wait(settings.WORKER_BEAT_SECONDS):
            try:
                self.beat()
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
def beating(*, slots: int = 0) -> Iterator[Worker]:
    """This process is known to be alive for as long as the block lasts."""
    worker = register(slots=slots)
    heart = Heart(worker)
    heart.start()
    try:
        yield worker
    finally:
        heart.end()
        sign_off(worker)
