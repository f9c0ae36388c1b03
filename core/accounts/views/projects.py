"""Projects: which ones I am in, in which one I work, and who is in one; and what an adjudicator decides."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from core.accounts.access import (
    get_account,
    owner_required,
    researcher_required,
)
from core.accounts.forms import MemberForm, ProjectForm
from core.accounts.models.projects import Membership, Project
from core.accounts.queries import projects as queries
from core.accounts.services import projects
from core.errors import InputError


@researcher_required
def project_list(request: HttpRequest) -> HttpResponse:
    """My projects, and the one that new things go to. The administration makes new ones here."""
    user = get_account(request)
    form = ProjectForm(request.POST or None) if user.is_superuser else None
    if form and form.is_valid() and (made := form.save(user)):
        messages.success(request, f"{made} is there. Add the people who work in it.")
        return redirect("project_detail", slug=made.slug)
    rows = list(queries.list_researched(user))
    return render(request, "annotation/project_list.html", {"rows": rows, "form": form, "several": len(rows) > 1})


@researcher_required
@require_POST
def project_choose(request: HttpRequest, slug: str) -> HttpResponse:
    """New things of mine go there from now on."""
    project = get_object_or_404(Project, slug=slug)
    projects.choose(by=get_account(request), project=project)
    messages.success(request, f"What you make now is of {project}.")
    return redirect("project_list")


@researcher_required
@require_safe
def project_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """List the members of a project."""
    return render_project(request, get_object_or_404(Project, slug=slug))


@owner_required
@require_POST
def member_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Give an account a role."""
    project = get_object_or_404(Project, slug=slug)
    form = MemberForm(request.POST, project=project)
    if form.is_valid() and (made := form.save(get_account(request))):
        messages.success(request, f"{made.user.username} is {made.get_role_display()} of {project}.")
        return redirect("project_detail", slug=slug)
    return render_project(request, project, form)


@owner_required
@require_POST
def member_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Another role for a member."""
    member = find_member(slug, pk)
    try:
        role = request.POST.get("role", "")
        projects.join(by=get_account(request), project=member.project, user=member.user, role=role)
    except InputError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{member.user.username} is {role} now.")
    return redirect("project_detail", slug=slug)


@owner_required
@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a member out."""
    member = find_member(slug, pk)
    try:
        projects.leave(by=get_account(request), project=member.project, user=member.user)
    except InputError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{member.user.username} is not in {member.project} any more.")
    return redirect("project_detail", slug=slug)


def render_project(request: HttpRequest, project: Project, form: MemberForm | None = None) -> HttpResponse:
    user = get_account(request)
    owns = queries.owns(user, project)
    context = {
        "project": project,
        "members": queries.members(project),
        "owns": owns,
        "form": (form or MemberForm(project=project)) if owns else None,
        "roles": Membership.Role.choices,
    }
    return render(request, "annotation/project_detail.html", context)


def find_member(slug: str, pk: int) -> Membership:
    found = Membership.objects.select_related("project", "user")
    return get_object_or_404(found, project__slug=slug, user=pk)
