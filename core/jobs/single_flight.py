"""One at a time among all processes: who computes gives signs of life, and who wants the same waits for the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

from django.core.cache import cache
from django.db import connection

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
    done = Event()
    beating = Thread(target=beat, args=(key, done), daemon=True)
    beating.start()
    try:
        yield True
    finally:
        done.set()
        beating.join()
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


def beat(key: str, done: Event) -> None:
    try:
        while not done.wait(BEAT):
            cache.set(key, True, GONE)
    finally:
        connection.close()  # this thread's own, where the cache is in the database
