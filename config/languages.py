"""Which language a page speaks. Every text goes through gettext.

A language of `WHOLE_LANGUAGES` in the settings has them all; any other has those of the annotators' pages, and speaks
on these alone.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_noop

from config.annotators_pages import TRANSLATED
from core.accounts.access import may_research

ENGLISH = "en"
ROLES = [gettext_noop("user"), gettext_noop("assistant"), gettext_noop("system"), gettext_noop("tool")]
"""Who speaks in a dialogue, as its page says it."""


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

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> None:  # noqa: ARG002
        """Speak the language of who asks, on a page that it has every text of."""
        match = request.resolver_match
        if match is None or request.path.startswith("/api/"):
            return
        offered = [
            one for one in settings.LANGUAGES if match.view_name in TRANSLATED or one[0] in settings.WHOLE_LANGUAGES
        ]
        if len(offered) > 1 and (language := choose_language(request)) in dict(offered):
            translation.activate(language)
            request.other_languages = [one for one in offered if one[0] != language]  # type: ignore[attr-defined]
