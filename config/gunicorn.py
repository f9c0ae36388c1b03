"""How gunicorn serves the site, wherever it runs; the command line adds the address and the number of processes.

    python -m gunicorn -c python:config.gunicorn --bind 127.0.0.1:8000 --workers 2

The site is loaded once and web processes are forked from it, so that they share its memory.
"""

from __future__ import annotations

wsgi_app = "config.wsgi:application"
threads = 4
timeout = 120
control_socket_disable = True
limit_request_line = 8190  # the site itself refuses longer addresses than it asks for, in words
preload_app = True


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
