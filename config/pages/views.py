"""Pages of the site itself."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from annotation.access import may_research
from config.pages import gallery as specimens


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Researchers start at the studies, annotators at their work."""
    return redirect("study_list" if may_research(request.user) else "my_work")


@login_required
def gallery(request: HttpRequest) -> HttpResponse:
    """Every component in every state; with ?layout=annotate, the layout of the page that annotates a dialogue."""
    template = "gallery_annotate.html" if request.GET.get("layout") == "annotate" else "gallery.html"
    return render(request, template, specimens.context())


def health(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Answers 200 when the web server reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})
