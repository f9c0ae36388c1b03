"""Who may make an account: people come in by invitation, or by the lab's single sign-on where that is allowed."""

from __future__ import annotations

from collections.abc import Mapping

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop

from core.accounts import queries
from core.accounts.models.users import User
from core.names import is_hidden
from judging.judges import second_factors
from judging.judges.sealing import UnreadableError

MORE_POLITE = [
    gettext_noop("You have signed out."),
    gettext_noop("Please type your current password."),
    gettext_noop("You must type the same password each time."),
    gettext_noop("Your account has no password set up."),
    gettext_noop("Be patient, you are sending too many requests."),
    gettext_noop("Are you sure you want to sign out?"),
    gettext_noop("You are about to generate a new set of recovery codes for your account."),
    gettext_noop("You are about to deactivate authenticator app based authentication. Are you sure?"),
]
"""Texts of allauth whose German says "du"; those in locale/ stand in for them."""

UNREADABLE = gettext_noop(
    "The site cannot read your second factor: it was sealed with a secret that is gone. "
    "Ask the person who runs this site to remove it."
)


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """No account without an invitation; `annotation` makes those."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: object) -> None:
        """Count the attempt for its name and address, and then for its name; success takes both back.

        An attempt that the first limit refuses does not count in the second: one address alone cannot use that up.
        """
        super().pre_authenticate(request, **credentials)
        anywhere = ratelimit.consume(
            request, app="allauth.account", action="login_failed_anywhere", key=find_name(credentials)
        )
        if not anywhere:
            raise self.validation_error("too_many_login_attempts")
        self._login_failed_rl_usage.usage += anywhere.usage

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: object) -> str:
        """Build the key from name and address: allauth's own has the Host header in it, whose port visitors choose."""
        return f"{ratelimit.get_ip(request)} {find_name(credentials)}"


def find_name(credentials: Mapping[str, object]) -> str:
    """The name that somebody signs in by. In capitals, as PostgreSQL compares names: "ſ" and "s" are one there."""
    return str(credentials.get("email") or credentials.get("username") or "").upper()


class SingleSignOn(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest, sociallogin: object) -> bool:  # noqa: ARG002
        """A stranger whom the lab knows becomes an annotator; what they may do more, a researcher decides."""
        return bool(settings.SINGLE_SIGN_ON_MAKES_ACCOUNTS)

    def populate_user(self, request: HttpRequest, sociallogin: object, data: Mapping[str, object]) -> object:
        """A name as the provider knows it, without what a name may not hold. allauth makes the username of it."""
        user = super().populate_user(request, sociallogin, data)
        for field in ("first_name", "last_name"):
            setattr(user, field, "".join(one for one in getattr(user, field) or "" if not is_hidden(one)))
        return user


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps and recovery codes are sealed in the database."""

    def encrypt(self, text: str) -> str:
        return second_factors.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return second_factors.unseal(encrypted_text)
        except UnreadableError as error:
            raise ValidationError(gettext(UNREADABLE)) from error


class Passwords(ModelBackend):
    """Accounts by name and password, as Django has it; every request asks for its account once more."""

    def get_user(self, user_id: int) -> User | None:
        user = queries.account(int(user_id))
        return user if user and self.user_can_authenticate(user) else None
