"""The Celery application. Workers start with `celery -A config worker`."""

import os

from celery import Celery
from celery.signals import celeryd_init, worker_before_create_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def wait_for_schema(**_: object) -> None:
    """A worker may start before the first host has migrated; nothing of Django can be imported above."""
    from config import readiness

    readiness.wait_for_schema()


@worker_before_create_process.connect
def share_with_children(**_: object) -> None:
    """The processes that run tasks are forked from this one."""
    from core.processes import share_memory

    share_memory()
