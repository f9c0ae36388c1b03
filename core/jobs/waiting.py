"""What is computed once for all: by one process at a time, or left to a worker: asked for, under way, failed, or done.

It stands in the cache that web and workers share, and not in a table: what is computed so has no row that could hold a
lease. Where the cache is emptied, nothing is lost but the sentence that somebody is waiting: asking again is harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import sleep, time
from typing import TypeVar

from celery import current_app
from django.core.cache import cache
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from core.accounts.models.users import User
from core.errors import InputError
from core.jobs.heartbeat import Rounds

BEAT, GONE = 5.0, 30
"""Seconds between signs of life, and after which one without them is gone."""

LOOK = 0.2
"""Seconds after which somebody who waits looks again."""


@contextmanager
def alone(key: str) -> Iterator[bool]:
    """Whether nobody else is at it; if so, signs of life are given as long as it lasts."""
    if not cache.add(key, True, GONE):
        yield False
        return
    beating = Rounds(f"heartbeat of {key}", partial(cache.set, key, True, GONE), seconds=BEAT)
    beating.start()
    try:
        yield True
    finally:
        beating.end()
        cache.delete(key)


@contextmanager
def take_turn(key: str) -> Iterator[None]:
    """Wait until nobody else is at it, then be the one."""
    while True:
        with alone(key) as is_mine:
            if is_mine:
                yield
                return
        sleep(LOOK)


REMEMBERED = 24 * 3600
KEPT = 30 * 24 * 3600

T = TypeVar("T")


@dataclass(frozen=True)
class DeferredRequest:
    """That somebody asked for it.

    Attributes
    ----------
    by, at
        Who, by username, and when, in seconds since the epoch.
    begun
        When a worker began; none before that.
    error
        Why there is no result.
    is_alive
        Whether a worker is at it now.
    """

    by: str
    at: float
    begun: float | None = None
    error: str = ""
    is_alive: bool = False

    @property
    def says(self) -> str:
        """What stands of it, in words."""
        asked = int(time() - self.at)
        if self.begun is None:
            return _("Asked for {asked:,} s ago by {by}; no worker has begun yet.").format(asked=asked, by=self.by)
        return _("Being computed for {begun:,} s; asked for {asked:,} s ago by {by}.").format(
            begun=int(time() - self.begun), asked=asked, by=self.by
        )

    @property
    def is_lost(self) -> bool:
        """Whether the worker that began is gone."""
        return self.begun is not None and not self.is_alive and not self.error


def find_request(key: str) -> DeferredRequest | None:
    """What stands of it; None where nobody has asked, or it is done."""
    found = cache.get(key)
    return None if found is None else DeferredRequest(**found, is_alive=cache.get(f"{key}-alive") is not None)


def remember(key: str, asked: DeferredRequest) -> None:
    said = {"by": asked.by, "at": asked.at, "begun": asked.begun, "error": asked.error}
    cache.set(key, said, REMEMBERED)


def ask(*, by: User, key: str, task: str, args: Sequence[object]) -> None:
    """Leave it to a worker. One who is at it already is left alone. Raises InputError where none can be reached."""
    found = find_request(key)
    if found and found.is_alive:
        return
    remember(key, DeferredRequest(by.username, time()))
    try:
        current_app.send_task(task, args=list(args))
    except OperationalError as error:
        cache.delete(key)
        raise InputError("No worker can be reached now. Nothing was lost; ask again later.") from error


def compute(key: str, reader: str, work: Callable[[], object]) -> None:
    """What a worker does for a reader: compute and keep, unless another one is at it. An error is told on the page."""
    found = find_request(key) or DeferredRequest(reader, time())
    with alone(f"{key}-alive") as is_mine:
        if not is_mine:
            return
        remember(key, replace(found, begun=time(), error=""))
        try:
            work()
        except InputError as error:
            remember(key, replace(found, error=str(error)))
        except Exception as error:
            remember(key, replace(found, error=f"{type(error).__name__}: {error}"[:300]))
            raise
        else:
            cache.delete(key)


def load_or_make(key: str, make: Callable[[], T]) -> T:
    """What is kept under a key, or made now by one process alone.

    The key holds a hash of all that it is made from, so that nobody is shown an old one.
    """
    found: T | None = cache.get(key)
    if found is not None:
        return found
    with take_turn(f"{key}-turn"):
        if (found := cache.get(key)) is None:
            found = make()
            cache.set(key, found, KEPT)
    return found
