"""Permissions of views and API endpoints.

A view's mark says who gets past its door. What the address names is looked at there as well: of another project it is
not found (see permissions.py).

An account's role says what it may do; a token's scopes say how much of that its bearer may do, and never add to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from core.accounts import permissions
from core.accounts.models.tokens import Scope
from core.accounts.models.users import User
from core.accounts.permissions import Account

if TYPE_CHECKING:
    from rest_framework.views import APIView

View = Callable[..., HttpResponseBase]
RESEARCH, READ, ANNOTATE, ADMIN = Scope.RESEARCH, Scope.READ, Scope.ANNOTATE, Scope.ADMIN
ADJUDICATE = Scope.ADJUDICATE

Access = Literal["public", "signed_in", "researcher", "adjudicator", "owner"]
"""Access rules of views. The view's own query then limits the rows: annotators find their own only."""


def mark_view(view: View, access: Access) -> View:
    """The view, saying who may come in. A test asks every address of the site, so none is without a rule."""
    view.access = access  # type: ignore[attr-defined]
    return view


def public(view: View) -> View:
    """Open a view to visitors without an account; the view decides what they may do."""
    return mark_view(view, "public")


def require_sign_in(view: View) -> View:
    """Send anonymous visitors to the sign-in page."""
    return mark_view(login_required(view), "signed_in")


def may_research(user: Account) -> bool:
    """Researchers see the material, and all of their projects; annotators see only what is assigned to them."""
    return bool(user.is_authenticated and (user.is_researcher or user.is_superuser))


def may_adjudicate(user: Account) -> bool:
    """Researchers do, and who is an adjudicator of some project."""
    return bool(
        user.is_authenticated
        and (may_research(user) or permissions.memberships(user, permissions.ADJUDICATING).exists())
    )


def find_deciding_roles(user: Account) -> tuple[str, ...]:
    """Return the roles in which an account decides; a former researcher's only where they were asked to."""
    return permissions.DECIDING if may_research(user) else permissions.ADJUDICATING


def get_account(request: HttpRequest) -> User:
    """Return the account that asks; 404 for a visitor, whom none of the marks below lets in."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def require_researcher(request: HttpRequest, given: Mapping[str, object]) -> None:
    """Raise PermissionDenied for annotators, and Http404 for what is another project's."""
    if not may_research(request.user):
        raise PermissionDenied(_("This page is for researchers."))
    permissions.require_project_access(request.user, find_route(request), given, roles=permissions.RESEARCHING)


def researcher_required(view: View) -> View:
    """Send anonymous visitors to the sign-in page, and tell annotators that the page is not theirs."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        require_researcher(request, kwargs)
        return view(request, *args, **kwargs)

    return mark_view(login_required(guarded), "researcher")


def adjudicator_required(view: View) -> View:
    """The same, for those who decide: researchers and adjudicators of the project."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        route, roles = find_route(request), find_deciding_roles(request.user)
        named = permissions.names_a_row(route)
        if not (
            permissions.is_allowed(request.user, route, kwargs, roles=roles) if named else may_adjudicate(request.user)
        ):
            if not may_adjudicate(request.user):
                raise PermissionDenied(_("This page is for researchers and adjudicators."))
            raise Http404("Not found.")
        return view(request, *args, **kwargs)

    return mark_view(login_required(guarded), "adjudicator")


def owner_required(view: View) -> View:
    """The same, for the owners of the project that the address names."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        require_researcher(request, kwargs)
        if not permissions.is_allowed(request.user, find_route(request), kwargs, roles=permissions.OWNING):
            raise PermissionDenied(_("This page is for the project's owners."))
        return view(request, *args, **kwargs)

    return mark_view(login_required(guarded), "owner")


def find_route(request: HttpRequest) -> str:
    """The route that led here."""
    return request.resolver_match.route if request.resolver_match else ""


def has_scope(request: Any, *scopes: str) -> bool:
    """Whether the token of the request has one of the scopes. Who is signed in in a browser needs none."""
    return request.auth is None or bool({*scopes} & {*request.auth.scopes})


class ApiPermission(BasePermission):
    """A rule of the API: the role that an account needs, and the scopes of which its token needs one."""

    access: Access = "signed_in"
    to_read: tuple[str, ...] = ()
    to_write: tuple[str, ...] = ()

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not self.suits(request.user):
            return False
        scopes = self.to_read if request.method in SAFE_METHODS else self.to_write
        if not has_scope(request, *scopes):
            self.message = f"This token lacks the scope {' or '.join(scopes)}."
            return False
        if roles := self.roles_of(request.user):
            permissions.require_project_access(request.user, find_route(request), view.kwargs, roles=roles)
        return True

    def roles_of(self, user: Account) -> tuple[str, ...]:  # noqa: ARG002
        """In which roles of its project an account may have what the address names; none where the view looks."""
        return ()

    def suits(self, user: Account) -> bool:
        """Whether the account has the role: any account does, where nothing else is said."""
        return bool(user.is_authenticated)


class IsResearcher(ApiPermission):
    """The API's default rule."""

    access: Access = "researcher"
    message = "This part of the API is for researchers."
    to_read: tuple[str, ...] = (READ, RESEARCH)
    to_write: tuple[str, ...] = (RESEARCH,)

    def suits(self, user: Account) -> bool:
        return may_research(user)

    def roles_of(self, user: Account) -> tuple[str, ...]:  # noqa: ARG002
        return permissions.RESEARCHING


class IsAdjudicator(IsResearcher):
    """Allow researchers and adjudicators of the project."""

    access: Access = "adjudicator"
    message = "This part of the API is for researchers and adjudicators."
    to_read = (READ, RESEARCH, ADJUDICATE)
    to_write = (RESEARCH, ADJUDICATE)

    def suits(self, user: Account) -> bool:
        return may_adjudicate(user)

    def roles_of(self, user: Account) -> tuple[str, ...]:
        return find_deciding_roles(user)


class IsAnnotator(ApiPermission):
    """Somebody's own work: what is assigned to the account that calls."""

    message = "Sign in, or send a token."
    to_read, to_write = (READ, ANNOTATE), (ANNOTATE,)


class IsAdministrator(IsResearcher):
    """What sends data elsewhere or lets others in."""

    to_read, to_write = (ADMIN,), (ADMIN,)


class IsOwner(IsResearcher):
    """Who is in a project: its researchers see it, its owners change it with a token that may let others in."""

    to_write = (ADMIN,)

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        self.message = "This part of the API is for the project's owners."
        owns = permissions.is_allowed(request.user, find_route(request), view.kwargs, roles=permissions.OWNING)
        return owns or request.method in SAFE_METHODS


class MayErase(ApiPermission):
    """Erasing an account, for good: whose, the view asks."""

    message = "Sign in, or send a token."
    to_read, to_write = (ADMIN,), (ADMIN,)


class IsSignedIn(ApiPermission):
    """What any account may know of itself and of the API."""

    message = "Sign in, or send a token."
    to_read, to_write = tuple(Scope.values), tuple(Scope.values)
