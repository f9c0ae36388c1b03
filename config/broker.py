"""The embedded Celery broker, whose messages are files in the data folder, and the cache that all processes share."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from queue import Empty

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache
from django.core.files import locks
from kombu import Connection
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import bytes_to_str, str_to_bytes
from kombu.utils.json import dumps, loads


def file_broker_options(folder: Path) -> dict[str, object]:
    """Transport options of kombu's file system broker, its folders made.

    In and out are one folder, since every process both sends and receives. A message that a killed worker had
    already taken is lost there; `judging.runs.services.recovery` hands the work out again from the database.
    """
    queue, control = folder / "queue", folder / "control"
    for path in (queue, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(control),
        "polling_interval": 0.2,
    }


CACHE_TABLE = "concord_cache"
"""Made by a migration, whether it is used or not."""

MOST_ENTRIES = 100_000
"""In the database; beyond them Django throws away every third."""
MOST_FILES = 10_000
"""Likewise in files, which are listed at each write. Django's 300 let made-up names push out counters of sign-ins."""


class FileCache(FileBasedCache):
    """Django's cache of files, with an `add` that one of two processes loses: allauth's limits lock by `add`."""

    _dir: str

    def add(self, key: str, value: object, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        os.makedirs(self._dir, mode=0o700, exist_ok=True)  # it may be deleted at any time
        with open(os.path.join(self._dir, "add.lock"), "w") as lock:
            locks.lock(lock, locks.LOCK_EX)  # until the file is closed
            return bool(super().add(key, value, timeout, version))


def build_shared_cache(broker: str, engine: str, folder: Path) -> dict[str, object]:
    """Django's CACHES entry: what all processes of a site share, on however many hosts.

    That is Redis where it is the broker; else the database where that has a server of its own; else files, since a
    database in a file keeps all processes on one host.
    """
    backends = "django.core.cache.backends"
    if broker.startswith(("redis://", "rediss://")):
        return {"BACKEND": f"{backends}.redis.RedisCache", "LOCATION": broker, "KEY_PREFIX": "concord"}
    if "sqlite" not in engine:
        return {
            "BACKEND": f"{backends}.db.DatabaseCache",
            "LOCATION": CACHE_TABLE,
            "OPTIONS": {"MAX_ENTRIES": MOST_ENTRIES},
        }
    return {
        "BACKEND": f"{__name__}.{FileCache.__name__}",
        "LOCATION": str(folder),
        "OPTIONS": {"MAX_ENTRIES": MOST_FILES},
    }


class Channel(filesystem.Channel):
    """Messages are files named by the time they were sent, so that sorting finds the oldest.

    In kombu's own, a message's file exists for a moment before its content does, and a worker that looks just then
    reads an empty message and ends. It also moves a message it takes through the machine's temporary folder, which is
    several steps where that is another file system. Here both are a rename inside the data folder.
    """

    def _put(self, queue: str, payload: object, **_: object) -> None:  # type: ignore[override]  # kombu disagrees with itself
        """Write beside the queue, then rename into it."""
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        whole = Path(self.data_folder_out) / name
        part = whole.with_name(f"{name}.part")
        try:
            part.write_bytes(str_to_bytes(dumps(payload)))
            part.rename(whole)
        except OSError as error:  # the message is a hint: whoever sends it goes on without
            part.unlink(missing_ok=True)
            raise ChannelError(f"A message cannot be written: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, object]:  # noqa: ARG002
        """The oldest message of the queue. Of several workers that reach for it, one gets it."""
        folder = Path(self.data_folder_in)
        for name in sorted(name for name in os.listdir(folder) if name.partition(".")[2] == f"{queue}.msg"):
            taken = folder / f"{name}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue
            content = taken.read_bytes()
            taken.unlink()
            message: dict[str, object] = loads(bytes_to_str(content))
            return message
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(self, connection: Connection, timeout: float | None = None, **_: object) -> None:
        """Look for messages once and hand control back: Celery asks for two seconds, and is deaf for as long."""
        longest = float(self.polling_interval or 1.0)
        super().drain_events(connection, timeout=longest if timeout is None else min(timeout, longest))

    @property
    def default_connection_params(self) -> dict[str, object]:
        """None: files have no host, and kombu would warn that it assumes one."""
        return {}
