"""A site may demand a second factor: who has none sets one up before anything else.

`CONCORD_REQUIRE_SECOND_FACTOR` says of whom. API tokens are credentials of their own and are not asked: whoever makes
one has passed here.
"""

from __future__ import annotations

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from config.middleware import problem
from core.accounts.models.projects import Membership
from core.accounts.models.users import User

NOBODY, STAFF, OWNERS, EVERYONE = "", "staff", "owners", "everyone"
CHOICES = (NOBODY, STAFF, OWNERS, EVERYONE)
OPEN = ("account_reauthenticate", "logout", "account_logout", "language", "script_texts", "health", "ready")
"""Names of addresses that are open without a second factor, beside allauth's own for setting it up (`mfa_…`)."""

APPS = [Authenticator.Type.TOTP]
METHOD = "mfa"
DETAIL = "This site demands a second factor of your account. Sign in in a browser to set it up."


def is_demanded(user: User) -> bool:
    """Whether the site demands a second factor of this account. A setting that is not known means everyone."""
    match settings.REQUIRE_SECOND_FACTOR:
        case "":
            return False
        case "staff":
            return is_staff(user)
        case "owners":
            return is_staff(user) or user.memberships.filter(role=Membership.Role.OWNER).exists()
    return True


def is_staff(user: User) -> bool:
    return user.is_staff or user.is_superuser


def was_given(request: HttpRequest) -> bool:
    """Whether the session gave a second factor when it signed in, or set it up."""
    return any(record["method"] == METHOD for record in get_authentication_records(request, request.user))


@receiver(authenticator_added)
def remember_set_up(request: HttpRequest, user: User, **kwargs: object) -> None:  # noqa: ARG001
    """The session in which somebody sets up a second factor need not give it once more."""
    record_authentication(request, user, METHOD)


class SecondFactorMiddleware(MiddlewareMixin):
    def process_view(self, request: HttpRequest, *view: object) -> HttpResponseBase | None:  # noqa: ARG002
        """Answer in place of a view to an account that lacks the second factor that is demanded of it."""
        if settings.REQUIRE_SECOND_FACTOR == NOBODY or is_open(request) or not isinstance(request.user, User):
            return None
        if not is_demanded(request.user):
            return None
        if not is_mfa_enabled(request.user, APPS):
            return refuse(request)
        return None if was_given(request) else sign_in_again(request)


def is_open(request: HttpRequest) -> bool:
    name = request.resolver_match.view_name if request.resolver_match else ""
    return name.startswith("mfa_") or name in OPEN


def refuse(request: HttpRequest) -> HttpResponse:
    """The page that leads to setting it up. 403, so that scripts keep what was entered, as if nobody had signed in."""
    if request.path.startswith("/api/"):
        return problem(403, "Forbidden", DETAIL)
    return render(request, "config/second_factor.html", status=403)


def sign_in_again(request: HttpRequest) -> HttpResponse:
    """End a session that is older than the account's second factor."""
    logout(request)
    return redirect_to_login(request.get_full_path())
