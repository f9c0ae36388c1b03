"""What is answered while the database, or what processes share, is away: 503 and when to come back, not "it broke"."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

RETRY_SECONDS = 5

LATER = ("08", "53", "57")
"""Classes of PostgreSQL's codes: connection lost, no room or no connection left, shut down by its administrator."""

BUSY = ("locked", "full", "disk i/o")
"""What SQLite says of the same."""


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's page for what nobody caught, except where waiting helps."""
    error = sys.exc_info()[1]
    if error is None or not is_away(error):
        return defaults.server_error(request)
    if request.path.startswith("/api/"):
        detail = "The database does not answer just now. Nothing was kept of this request; send it again."
        content = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": detail}
        answer: HttpResponse = JsonResponse(content, status=503, content_type="application/problem+json")
    else:
        answer = HttpResponse(render_to_string("503.html"), status=503)
    answer["Retry-After"] = str(RETRY_SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer


def is_away(error: BaseException) -> bool:
    """Whether it says that something is not there for the moment, rather than that something is wrong."""
    if isinstance(error, RedisConnectionError | RedisTimeoutError | BusyLoadingError | InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    code = getattr(error.__cause__, "sqlstate", None)
    if code is not None:
        return str(code).startswith(LATER)
    text = str(error).lower()
    is_of_sqlite = type(error.__cause__).__module__.startswith("sqlite3")
    return any(word in text for word in BUSY) if is_of_sqlite else True  # of PostgreSQL: no connection could be made
