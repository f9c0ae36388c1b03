"""Choosing a language, and the texts of scripts in it."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import JavaScriptCatalog, set_language

from core.accounts.access import public
from core.accounts.models.users import User

YEAR = 365 * 24 * 3600


@public
@require_POST
def choose_language(request: HttpRequest) -> HttpResponseBase:
    """Keep my choice with my account, and in a cookie for the pages before I sign in; then back to the page."""
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES) and isinstance(request.user, User):
        User.objects.filter(pk=request.user.pk).update(language=language)
    answer: HttpResponse = set_language(request)
    return answer


@public
@require_safe
@cache_control(public=True, max_age=YEAR, immutable=True)
def load_script_texts(request: HttpRequest) -> HttpResponseBase:
    """The texts of scripts in the language that is asked for. The address changes with them, so they are kept."""
    language = request.GET.get("language", "")
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        return JavaScriptCatalog.as_view(packages=["config"])(request)
