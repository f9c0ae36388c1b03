"""One at a time among all processes: who computes gives signs of life, and who wants the same waits for the result.

It stands in the cache and not in a table: what is computed so has no row that could hold a lease.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep

from django.core.cache import cache

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
