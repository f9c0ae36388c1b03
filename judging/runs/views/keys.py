"""Keys of models that a project keeps: researchers see which there are, owners enter and forget them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from core.accounts.access import get_account, owner_required, researcher_required
from core.accounts.models.projects import Project
from core.accounts.queries import owns
from judging.judges.models import ModelKey
from judging.judges.services import keys
from judging.runs.judge_forms import KeyForm


@researcher_required
@require_safe
def key_list(request: HttpRequest, slug: str) -> HttpResponse:
    """For which addresses there are keys. No key is ever shown."""
    return render_keys(request, get_object_or_404(Project, slug=slug))


@owner_required
@require_POST
def key_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter a key, or another one for an address that has one."""
    project = get_object_or_404(Project, slug=slug)
    form = KeyForm(request.POST)
    if form.is_valid() and (made := form.save(get_account(request), project)):
        messages.success(request, f"There is a key for {made.origin} now.")
        return redirect("key_list", slug=slug)
    return render_keys(request, project, form)


@owner_required
@require_POST
def key_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Forget a key."""
    key = get_object_or_404(ModelKey, project__slug=slug, pk=pk)
    keys.drop(by=get_account(request), key=key)
    messages.success(request, f"The key for {key.origin} is forgotten here. It is valid there until it is revoked.")
    return redirect("key_list", slug=slug)


def render_keys(request: HttpRequest, project: Project, form: KeyForm | None = None) -> HttpResponse:
    is_owner = owns(get_account(request), project)
    rows = list(ModelKey.objects.filter(project=project).select_related("created_by"))
    context = {
        "project": project,
        "rows": [(row, keys.is_readable(row)) for row in rows],
        "owns": is_owner,
        "form": (form or KeyForm()) if is_owner else None,
    }
    return render(request, "judging/key_list.html", context)
