"""Who may do what, in one place for pages and API alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import BasePermission

View = Callable[..., HttpResponseBase]


def may_research(user: Any) -> bool:
    """Researchers see all material, studies, judges and results; annotators see only what is assigned to them."""
    return bool(user.is_authenticated and (user.is_researcher or user.is_superuser))


def researcher_required(view: View) -> View:
    """Send anonymous visitors to the sign-in page, and tell annotators that the page is not theirs."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not may_research(request.user):
            raise PermissionDenied("This page is for researchers.")
        return view(request, *args, **kwargs)

    return login_required(guarded)


class IsResearcher(BasePermission):
    """The API's default rule."""

    message = "The API is for researchers."

    def has_permission(self, request: Any, view: Any) -> bool:  # noqa: ARG002
        return may_research(request.user)
