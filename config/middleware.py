"""Turns an oversized request away before its body is read."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


class UploadLimitMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if length.isdigit() and int(length) > settings.MAX_UPLOAD_BYTES:
            megabytes = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            return render(request, "413.html", {"limit_mb": megabytes}, status=413)
        return self.get_response(request)
