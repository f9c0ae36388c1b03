"""Web server and worker for those who change the code: both reload it when a file changes.

`make dev` sets CONCORD_DEBUG, so that files of static/ are served as they are.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import subprocess
import sys

from django.conf import settings
from django.contrib.staticfiles.management.commands.runserver import Command as RunServer
from django.core.management import call_command

WORKER = (sys.executable, "-m", "celery", "-A", "config", "worker", "--loglevel", "INFO", "--concurrency", "1")
PR_SET_PDEATHSIG = 1
PATIENCE = 5.0
"""Seconds in which a worker ends its task, which another takes up otherwise."""


class Command(RunServer):
    help = "Run Django's own server and a Celery worker until Ctrl-C; both start again when a file changes."
    default_port = os.environ.get("CONCORD_PORT", "8000")

    def inner_run(self, *args: object, **options: object) -> None:
        """Serve until a file changes. The reloader ends this process then, and the worker with it."""
        call_command("migrate", verbosity=0)
        # In a session of its own: signalled together with its children, Celery waits for them in vain.
        worker = subprocess.Popen(  # noqa: S603
            WORKER, cwd=settings.BASE_DIR, start_new_session=True, preexec_fn=end_with_parent
        )
        atexit.register(end_worker, worker)
        super().inner_run(*args, **options)


def end_with_parent() -> None:
    """Let Linux end this process with its parent, also with one that is killed and cannot end it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_worker(worker: subprocess.Popen[bytes]) -> None:
    """End a worker, also one that is still starting and does not listen yet."""
    worker.terminate()
    try:
        worker.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        worker.kill()
