"""The search of the top bar."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.studies.queries import search as queries
from core.accounts.access import get_account, researcher_required


@researcher_required
def search(request: HttpRequest) -> HttpResponse:
    """People, studies, items and material whose name or id contains what was typed."""
    text = request.GET.get("q", "").strip()
    found = queries.search(text, by=get_account(request)) if text else []
    return render(request, "annotation/search.html", {"q": text, "found": found, "most": queries.MOST})
