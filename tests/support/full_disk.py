"""Disks without room, for files and for the database."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

FILE = 200_000
"""Bytes of a file that fit on the full disk."""

PAGES = 4
"""Pages by which the full database may grow."""


@contextmanager
def full_disk() -> Iterator[None]:
    """Files cannot grow beyond a size: the system refuses to write on, as it does where the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def full_database() -> Iterator[None]:
    """SQLite cannot make its file larger. Needs a test that commits: there may be free pages inside the file."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        size = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {size + PAGES}")
    try:
        yield
    finally:
        connection.close()  # the next connection has no limit
