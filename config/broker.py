"""The embedded Celery broker, whose messages are files in the data folder, and the cache that all processes share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.cache.backends.filebased import FileBasedCache
from django.core.files import locks


def file_broker_options(folder: Path) -> dict[str, Any]:
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

    def add(self, key: Any, value: Any, *args: Any, **options: Any) -> bool:
        os.makedirs(self._dir, mode=0o700, exist_ok=True)  # it may be deleted at any time
        with open(os.path.join(self._dir, "add.lock"), "w") as lock:
            locks.lock(lock, locks.LOCK_EX)  # until the file is closed
            return bool(super().add(key, value, *args, **options))


def build_shared_cache(broker: str, engine: str, folder: Path) -> dict[str, Any]:
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
