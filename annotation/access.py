"""Who may do what, in one place for pages and API alike.

An account's role says what it may do; a token's scopes say how much of that its bearer may do, and never add to it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import SAFE_METHODS, BasePermission

from annotation.models.api import Scope

View = Callable[..., HttpResponseBase]
RESEARCH, READ, ANNOTATE, ADMIN = Scope.RESEARCH, Scope.READ, Scope.ANNOTATE, Scope.ADMIN

Access = Literal["public", "signed_in", "researcher"]
"""Who gets past a view's door. Whose rows they then find is the view's query: annotators find their own only."""


def marked(view: View, access: Access) -> View:
    """The view, saying who may come in. A test asks every address of the site, so none is without a rule."""
    view.access = access  # type: ignore[attr-defined]
    return view


def public(view: View) -> View:
    """For everyone, also without an account; the view itself says what a visitor may do."""
    return marked(view, "public")


def signed_in(view: View) -> View:
    """Send anonymous visitors to the sign-in page."""
    return marked(login_required(view), "signed_in")


def may_research(user: Any) -> bool:
    """Researchers see all material, studies, judges and results; annotators see only what is assigned to them."""
    return bool(user.is_authenticated and (user.is_researcher or user.is_superuser))


def researcher_required(view: View) -> View:
    """Send anonymous visitors to the sign-in page, and tell annotators that the page is not theirs."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not may_research(request.user):
            raise PermissionDenied("This page is for researchers.")
        return view(request, *args, **kwargs)

    return marked(login_required(guarded), "researcher")


def in_scope(request: Any, *scopes: str) -> bool:
    """Whether the token of the request has one of the scopes. Who is signed in in a browser needs none."""
    return request.auth is None or bool({*scopes} & {*request.auth.scopes})


class ApiPermission(BasePermission):
    """A rule of the API: the role that an account needs, and the scopes of which its token needs one."""

    access: Access = "signed_in"
    to_read: tuple[str, ...] = ()
    to_write: tuple[str, ...] = ()

    def has_permission(self, request: Any, view: Any) -> bool:  # noqa: ARG002
        if not self.suits(request.user):
            return False
        scopes = self.to_read if request.method in SAFE_METHODS else self.to_write
        if not in_scope(request, *scopes):
            self.message = f"This token lacks the scope {' or '.join(scopes)}."
            return False
        return True

    def suits(self, user: Any) -> bool:
        """Whether the account has the role: any account does, where nothing else is said."""
        return bool(user.is_authenticated)


class IsResearcher(ApiPermission):
    """The API's default rule."""

    access: Access = "researcher"
    message = "This part of the API is for researchers."
    to_read: tuple[str, ...] = (READ, RESEARCH)
    to_write: tuple[str, ...] = (RESEARCH,)

    def suits(self, user: Any) -> bool:
        return may_research(user)


class IsAnnotator(ApiPermission):
    """Somebody's own work: what is assigned to the account that calls."""

    message = "Sign in, or send a token."
    to_read, to_write = (READ, ANNOTATE), (ANNOTATE,)


class IsAdministrator(IsResearcher):
    """What sends data elsewhere or lets others in."""

    to_read, to_write = (ADMIN,), (ADMIN,)


class IsSignedIn(ApiPermission):
    """What any account may know of itself and of the API."""

    message = "Sign in, or send a token."
    to_read, to_write = tuple(Scope.values), tuple(Scope.values)
