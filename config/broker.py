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


def shared_cache(broker: str, folder: Path) -> dict[str, Any]:
    """Django's CACHES entry: beside the broker where that is Redis, else files that this host's processes share."""
    if broker.startswith(("redis://", "rediss://")):
        return {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": broker, "KEY_PREFIX": "concord"}
    return {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": str(folder)}
