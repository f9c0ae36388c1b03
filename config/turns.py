"""Work that only one process of a site may do at a time, on however many hosts: the others wait and say for whom."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.core.management.base import OutputWrapper
from django.db import connection

POLL_SECONDS = 0.5

ADVISORY_CLASS = 0x636F6E63
"""First half of the advisory locks' keys on PostgreSQL ("conc" in ASCII)."""

TASKS = {"migrate": 1, "demo": 2}
"""Second half of those keys, by task."""

TAKE = "SELECT pg_try_advisory_lock(%s, %s)"
HOLDER = """
SELECT coalesce(nullif(application_name, ''), 'process ' || pid || ' of the database server')
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND classid = %s AND objid = %s AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@contextmanager
def take_turn(task: str, stderr: OutputWrapper) -> Iterator[None]:
    """Run the block once no other process of the site does the same task. Who waits is told for whom, once.

    An advisory lock on PostgreSQL, a locked file beside the database on SQLite. Both end with the process that holds
    them. A database in memory is seen by one process only and needs no lock.
    """
    if connection.vendor == "postgresql":
        with lock_on_server(task, stderr):
            yield
    elif connection.is_in_memory_db():  # type: ignore[attr-defined] # of SQLite's backend
        yield
    else:
        with lock_file(Path(f"{connection.settings_dict['NAME']}.{task}-lock"), task, stderr):
            yield


@contextmanager
def lock_on_server(task: str, stderr: OutputWrapper) -> Iterator[None]:
    """Hold the lock on a connection of its own, which does nothing else: its end would end the lock, a little later.

    It asks again and again instead of waiting inside PostgreSQL: a statement that waits keeps its snapshot, for which
    a migration that builds an index concurrently would wait in turn.
    """
    link = connection.copy()
    key = (ADVISORY_CLASS, TASKS[task])
    try:
        with link.cursor() as cursor:

            def ask(statement: str, parameters: tuple[int | str, ...]) -> object:
                cursor.execute(statement, parameters)
                row = cursor.fetchone()
                return row[0] if row else ""

            ask("SELECT set_config('application_name', %s, false)", (describe_process()[:63],))
            wait_for_turn(lambda: bool(ask(TAKE, key)), lambda: str(ask(HOLDER, key)), task, stderr)
        yield
    finally:
        if link.is_usable():
            with link.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_all()")
        link.close()


@contextmanager
def lock_file(path: Path, task: str, stderr: OutputWrapper) -> Iterator[None]:
    """Hold the lock on a file, which says who holds it. The file stays: another process may have it open already."""
    with path.open("a+") as file:
        wait_for_turn(lambda: is_taken(file.fileno()), path.read_text, task, stderr)
        file.truncate(0)
        file.write(describe_process())
        file.flush()
        yield


def is_taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_turn(take: Callable[[], bool], holder: Callable[[], str], task: str, stderr: OutputWrapper) -> None:
    told = False
    while not take():
        if not told:
            stderr.write(f"Waiting until another process is done with `{task}` on this database ({holder()}).")
            stderr.flush()
            told = True
        time.sleep(POLL_SECONDS)


def describe_process() -> str:
    now = datetime.now(UTC).strftime("%H:%M:%S")
    return f"since {now} UTC, process {os.getpid()} on {socket.gethostname()}"
