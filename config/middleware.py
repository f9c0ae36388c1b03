"""What is answered in place of a view: to requests that are too large, to what cannot be used, and to faults.

While the database is away, its disk is full and the like, that is 503 with the reason, not "it broke".
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.views import defaults

from annotation.recruitment.queries import is_link_participant
from core.audit.log import audit_through
from core.audit.models import Act
from core.errors import InputError
from core.faults import describe_fault

MEGABYTE = 1024 * 1024
LONGEST_QUERY = 4000
"""Characters after the question mark of an address: less than a web server lets pass, more than any page asks for."""
RETRY_SECONDS = 5


def render_too_large(request: HttpRequest, limit: int, *, sent: int, is_text: bool = False) -> HttpResponse:
    """The page that says what was too large, a file or the texts of a form, how large it was and what is the limit."""
    context = {"limit_mb": limit, "sent_mb": -(-sent // MEGABYTE), "is_text": is_text}
    return render(request, "413.html", context, status=413)


def render_too_long(request: HttpRequest) -> HttpResponse:
    """The page that says that an address is longer than any of this site's."""
    return render(request, "413.html", {"is_address": True}, status=414)


def problem(status: int, title: str, detail: str) -> HttpResponse:
    """The same for programs, before there is a view that could say it."""
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JsonResponse(content, status=status, content_type="application/problem+json")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's page for a request that it does not take, except where the texts of a form are too long."""
    if isinstance(exception, RequestDataTooBig):
        sent = int(request.META.get("CONTENT_LENGTH") or 0)
        return render_too_large(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MEGABYTE, sent=sent, is_text=True)
    return defaults.bad_request(request, exception)


def is_utf_8(request: HttpRequest) -> bool:
    """Whether a form with files is what browsers send. Django asks it of other forms only."""
    charset = (request.content_params or {}).get("charset", "utf-8")
    return request.content_type != "multipart/form-data" or charset.lower() in ("utf-8", "utf8")


class AuditMiddleware:
    """What a request does came by a page or by the API."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with audit_through(Act.Through.API if request.path.startswith("/api/") else Act.Through.PAGE):
            return self.get_response(request)


class LinkOnlyMiddleware:
    """Whom a platform sent signs in by its link: pages about passwords, second factors and tokens are not for them."""

    pages = ("/account/password/", "/account/again/", "/account/2fa/", "/tokens/")

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(self.pages) and is_link_participant(request.user):
            return redirect("my_work")
        return self.get_response(request)


class InputErrorMiddleware(MiddlewareMixin):
    """A page that meets what it cannot use, and has no place of its own to say so, says it as an error page."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The page, with the error's sentence; None for any other error."""
        return (
            render(request, "input_error.html", {"error": exception}, status=400)
            if isinstance(exception, InputError)
            else None
        )


class UploadLimitMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_api, length = request.path.startswith("/api/"), request.META.get("CONTENT_LENGTH") or "0"
        if len(request.META.get("QUERY_STRING", "")) > LONGEST_QUERY:
            detail = f"What follows the question mark of an address has at most {LONGEST_QUERY:,} characters."
            return problem(414, "URI Too Long", detail) if is_api else render_too_long(request)
        if not is_utf_8(request):
            detail = "A form is sent in UTF-8."
            return problem(400, "Bad Request", detail) if is_api else defaults.bad_request(request, BadRequest(detail))
        if length.isdecimal() and int(length) > settings.MAX_UPLOAD_BYTES:
            megabytes = settings.MAX_UPLOAD_BYTES // MEGABYTE
            detail = f"A request may have {megabytes} MB; the command of the same name takes more."
            sent = int(length)
            return (
                problem(413, "Content Too Large", detail) if is_api else render_too_large(request, megabytes, sent=sent)
            )
        return self.get_response(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's page for what nobody caught, except where the machine is at fault."""
    error = sys.exc_info()[1]
    fault, is_api = describe_fault(error) if error else None, request.path.startswith("/api/")
    if fault is None and is_api:
        detail = "Something broke on our side. Nothing was kept of this request; the server's log holds the details."
        return problem(500, "Internal Server Error", detail)
    if fault is None:
        return defaults.server_error(request)
    if is_api:
        detail = f"{fault} Nothing was kept of this request; send it again."
        answer = problem(503, "Service Unavailable", detail)
    else:
        answer = HttpResponse(render_to_string("503.html", {"fault": _(fault)}), status=503)
    answer["Retry-After"] = str(RETRY_SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer
