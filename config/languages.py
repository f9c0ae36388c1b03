"""Which language a page speaks. Annotators' pages are translated; all else is in English, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_noop

from core.accounts.access import may_research

ENGLISH = "en"
ROLES = [gettext_noop("user"), gettext_noop("assistant"), gettext_noop("system"), gettext_noop("tool")]
"""Who speaks in a dialogue, as its page says it."""

TRANSLATED = frozenset(
    {
        # work
        "my_work", "next_item", "assignment", "assignment_skip", "assignment_flag", "assignment_later",
        "assignment_message", "assignment_decline", "assignment_save", "assignment_draft", "assignment_put_back",
        "next_ahead", "my_items", "qualification", "training_answer",
        # taking part
        "join", "register", "consent", "about_me", "withdraw",
        # the account
        "login", "account_login", "logout", "account_logout", "account_inactive", "account_change_password",
        "account_reauthenticate", "account", "person_erase",
        "mfa_index", "mfa_authenticate", "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp",
        "mfa_view_recovery_codes", "mfa_generate_recovery_codes",
    }
)  # fmt: skip
"""Names of addresses whose pages, and whatever these include, have every text in locale/."""


def choose_language(request: HttpRequest) -> str:
    """The person's own choice, or else what the browser asks for; researchers read English until they choose."""
    chosen: str = getattr(request.user, "language", "")
    if chosen in dict(settings.LANGUAGES):
        return chosen
    return ENGLISH if may_research(request.user) else translation.get_language_from_request(request)


class LanguageMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            response = self.get_response(request)
        finally:
            translation.deactivate()
        if hasattr(request, "other_languages"):
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:  # noqa: ARG002
        """Speak the language of who asks, on a page that is translated."""
        match = request.resolver_match
        if match is None or match.view_name not in TRANSLATED or request.path.startswith("/api/"):
            return
        language = choose_language(request)
        translation.activate(language)
        request.other_languages = [one for one in settings.LANGUAGES if one[0] != language]  # type: ignore[attr-defined]
