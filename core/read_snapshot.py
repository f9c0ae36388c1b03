"""Reading the database as it was at one moment.

Kept apart from `core.statements`, which writes: a module beyond the services that begins a transaction only reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection, transaction

Piece = TypeVar("Piece")


@contextmanager
def read_snapshot() -> Iterator[None]:
    """All reads see the database as it was at the first of them, and nobody who writes waits."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
        return
    with transaction.atomic():
        if connection.vendor == "postgresql" and len(connection.savepoint_ids) == 0:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def iterate_in_snapshot(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """What is read piece by piece, all of it as it was when the first piece was asked for."""
    with read_snapshot():
        yield from pieces
