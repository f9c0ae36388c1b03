"""Rows that all tests of a module start from, made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

T = TypeVar("T")


def share_rows(blocker: DjangoDbBlocker, make: Callable[[], T]) -> Iterator[T]:
    """What a fixture of a module yields from: rows made in a transaction, above which each test has a savepoint.

    ``make`` returns keys, not objects: what a test does to an object would reach the next one.
    """
    with blocker.unblock(), transaction.atomic():
        made = make()
        with blocker.block():
            yield made
        transaction.set_rollback(True)
