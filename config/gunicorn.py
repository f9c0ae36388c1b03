"""How gunicorn serves the site, wherever it runs; the command line adds the address and the number of processes.

    python -m gunicorn -c python:config.gunicorn --bind 127.0.0.1:8000 --workers 2

The site is loaded once and web processes are forked from it, so that they share its memory.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gunicorn.workers.gthread import ThreadWorker

wsgi_app = "config.wsgi:application"
threads = 4
timeout = 120
control_socket_disable = True
limit_request_line = 8190  # the site itself refuses longer addresses than it asks for, in words
preload_app = True

MOST_MEMORY = 280 * 2**20
"""Bytes in memory, some 65 MB of them shared, at which a web process ends. Most pages together need 200 MB."""

lock, in_flight = Lock(), 0


def when_ready(server: object) -> None:  # noqa: ARG001 - gunicorn hands it over
    """Load what the first request would load, and keep it where forked processes share it."""
    import scipy
    from django.db import connections
    from django.urls import get_resolver

    from config.api.views import load_document
    from core.processes import share_memory

    _ = get_resolver().url_patterns, scipy.special  # the second is loaded when it is first named
    load_document()
    connections.close_all()  # a forked process must not use its parent's
    share_memory()


def pre_request(worker: ThreadWorker, request: object) -> None:  # noqa: ARG001
    global in_flight
    with lock:
        in_flight += 1


def post_request(worker: ThreadWorker, request: object, environ: object, response: object) -> None:  # noqa: ARG001
    """End a process that has grown, once it answers no other request; gunicorn forks the next one from its parent.

    Tables and figures of a large study stay with the process that computed them: Python gives little back.
    """
    from core.processes import measure_memory

    global in_flight
    with lock:
        in_flight -= 1
        if worker.alive and not in_flight and (taken := measure_memory()) > MOST_MEMORY:
            worker.log.info("This process has grown to %d MB; another takes its place.", taken >> 20)
            worker.alive = False
