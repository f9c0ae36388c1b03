"""Asking for more ratings of items whose tier is unclear."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.studies.models.studies import Study
from annotation.workbench.services.overlap import ask_more
from core.accounts.access import get_account, researcher_required
from core.errors import InputError


@researcher_required
@require_POST
def tiers_ask_more(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for one more rating of each item that is named."""
    study = get_object_or_404(Study, slug=slug)
    try:
        n = ask_more(by=get_account(request), study=study, positions=parse_positions(request.POST.get("positions", "")))
    except InputError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"One more rating is asked for of {n} item{'' if n == 1 else 's'}.")
    query = urlencode({"criterion": request.POST.get("criterion", "")})
    return redirect(f"{reverse('tiers', args=[slug])}?{query}#more")


def parse_positions(text: str) -> list[int]:
    """Positions as a form sends them, 3,8,21. Raises InputError where they are none."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{text[:40]!r} is no list of positions such as 3,8,21", field="positions") from error
    if not all(0 < one < 2**31 for one in found):
        raise InputError("Positions count from 1.", field="positions")
    return found
