"""Who may make an account: people come in by invitation, or by the lab's single sign-on where that is allowed."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.cache import cache
from django.http import HttpRequest

from annotation.queries import people


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """No account without an invitation; `annotation` makes those."""
        return False

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:  # noqa: ARG002
        """By name alone: allauth's key has the Host header in it, whose port a visitor may choose."""
        return str(credentials.get("email") or credentials.get("username") or "").lower()


def forget_attempts(username: str) -> None:
    """Forget the failed attempts to sign in by this name. Those from an address are not of one person."""
    request, counted = HttpRequest(), {"app": "allauth.account", "action": "login_failed"}
    for rate in ratelimit.get_rates(**counted):
        if rate.per == "key":
            key = Accounts()._get_login_attempts_cache_key(request, username=username)
            cache.delete(ratelimit.get_cache_key(request, rate=rate, key=key, **counted))


class SingleSignOn(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:  # noqa: ARG002
        """A stranger whom the lab knows becomes an annotator; what they may do more, a researcher decides."""
        return bool(settings.SINGLE_SIGN_ON_MAKES_ACCOUNTS)


class Passwords(ModelBackend):
    """Accounts by name and password, as Django has it; every request asks for its account once more."""

    def get_user(self, user_id: Any) -> Any:
        user = people.account(int(user_id))
        return user if user and self.user_can_authenticate(user) else None
