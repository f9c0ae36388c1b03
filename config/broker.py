"""The embedded Celery broker: messages are files in the data folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def file_broker_options(folder: Path) -> dict[str, Any]:
    """Transport options of kombu's file system broker, its folders made.

    In and out are one folder, since every process both sends and receives. A message that a killed worker had
    already taken is lost there; `judging.services.recovery` hands the work out again from the database.
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


def shared_cache(broker: str, engine: str, folder: Path) -> dict[str, Any]:
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
    return {"BACKEND": f"{backends}.filebased.FileBasedCache", "LOCATION": str(folder)}
