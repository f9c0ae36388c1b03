"""What is answered while the database is away, its disk is full and the like: 503 with the reason, not "it broke"."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views import defaults

from core.faults import describe_fault

RETRY_SECONDS = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's page for what nobody caught, except where the machine is at fault."""
    error = sys.exc_info()[1]
    fault = describe_fault(error) if error else None
    if fault is None:
        return defaults.server_error(request)
    if request.path.startswith("/api/"):
        detail = f"{fault} Nothing was kept of this request; send it again."
        content = {"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": detail}
        answer: HttpResponse = JsonResponse(content, status=503, content_type="application/problem+json")
    else:
        answer = HttpResponse(render_to_string("503.html", {"fault": fault}), status=503)
    answer["Retry-After"] = str(RETRY_SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer
