"""What a page says that would read a whole study, where that is more than somebody waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import is_large
from annotation.studies.steps import study_steps
from core.row_counts import LARGE

View = Callable[..., HttpResponse]
WHOLE = "whole"


def reads_all(title: str, command: str, step: str = "") -> Callable[[View], View]:
    """Before a study of more than 100,000 labels is read, say so, and with which command it is done without waiting.

    Whoever asks for it gets the page none the less.
    """

    def around(view: View) -> View:
        @wraps(view)
        def shown(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponse:
            study = get_object_or_404(Study, slug=slug)
            return asks_first(request, study, title, command, step) or view(request, slug, *args, **kwargs)

        return shown

    return around


def asks_first(request: HttpRequest, study: Study, title: str, command: str, step: str = "") -> HttpResponse | None:
    """That page, where one would wait for long and has not asked for it; None where the study may be read at once."""
    if request.method == "POST" or WHOLE in request.GET or not is_large(study):
        return None
    query = request.GET.copy()
    query[WHOLE] = "1"
    context = {
        "study": study,
        "steps": study_steps(study, step),
        "title": _(title),
        "command": f"manage.py {command} --study {study.slug}",
        "most": LARGE,
        "here": f"?{query.urlencode()}",
    }
    return render(request, "annotation/large.html", context)
