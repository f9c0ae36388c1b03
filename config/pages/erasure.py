"""The page on which an account is erased: one's own, or that of somebody who asked for it."""

from __future__ import annotations

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from annotation.recruitment.services import withdrawn
from config.erasure import erasing
from config.erasure.about import load_about
from config.erasure.forms import EraseForm
from core.accounts.access import get_account, require_sign_in
from core.accounts.models.users import User


@require_sign_in
@never_cache
@reauthentication_required(allow_get=True)  # type: ignore[untyped-decorator] # allauth says no types
def person_erase(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what is erased and what stays, ask for the username, and erase."""
    by, person = get_account(request), get_object_or_404(User, pk=pk)
    if not erasing.concerns(by, person):
        raise Http404
    found, is_own = load_about(by=by, person=person), by == person
    form = EraseForm(request.POST or None, person=person)
    if form.is_valid() and form.save(by):
        return render_erased(request, found.username, is_own=is_own)
    context = {"about": found, "form": form, "is_own": is_own, "withdrawable": person.studies.all() if is_own else ()}
    return render(request, "config/person_erase.html", context, status=422 if form.is_bound else 200)


def render_erased(request: HttpRequest, username: str, *, is_own: bool) -> HttpResponse:
    """Who erased themselves is signed out; who did it for somebody goes on, and is told if the list lacks it."""
    if is_own:
        logout(request)
        return render(request, "config/erased.html")
    messages.success(request, f"{username} is erased.")
    if problem := withdrawn.problem():
        messages.warning(request, f"Tell the person who runs this site: {problem}")
    return redirect("home")
