"""Turns an oversized request away before its body is read, and says of acts by what they came."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults

from annotation.models import Act
from annotation.services.acts import coming_through

MEGABYTE = 1024 * 1024


def too_large(request: HttpRequest, limit: int, *, sent: int, is_text: bool = False) -> HttpResponse:
    """The page that says what was too large, a file or the texts of a form, how large it was and what is the limit."""
    context = {"limit_mb": limit, "sent_mb": -(-sent // MEGABYTE), "is_text": is_text}
    return render(request, "413.html", context, status=413)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's page for a request that it does not take, except where the texts of a form are too long."""
    if isinstance(exception, RequestDataTooBig):
        sent = int(request.META.get("CONTENT_LENGTH") or 0)
        return too_large(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MEGABYTE, sent=sent, is_text=True)
    return defaults.bad_request(request, exception)


class ActsMiddleware:
    """What a request does came by a page or by the API."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with coming_through(Act.Through.API if request.path.startswith("/api/") else Act.Through.PAGE):
            return self.get_response(request)


class UploadLimitMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > settings.MAX_UPLOAD_BYTES:
            megabytes = settings.MAX_UPLOAD_BYTES // MEGABYTE
            if request.path.startswith("/api/"):
                detail = f"A request may have {megabytes} MB; the command of the same name takes more."
                content = {"type": "about:blank", "title": "Content Too Large", "status": 413, "detail": detail}
                return JsonResponse(content, status=413, content_type="application/problem+json")
            return too_large(request, megabytes, sent=int(length))
        return self.get_response(request)
