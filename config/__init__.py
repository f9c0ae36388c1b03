"""Settings, addresses and processes of the whole site."""

import gc

# Python looks for garbage after each 700 new objects, an eighth of the time in which a process starts.
gc.set_threshold(50_000, 10, 10)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
