"""The first account of a site; projects, in which one I work, and who is in one; and one's API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.forms import BaseUserCreationForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.accounts import queries
from core.accounts.access import (
    get_account,
    owner_required,
    public,
    require_sign_in,
    researcher_required,
)
from core.accounts.forms import MemberForm, ProjectForm, TokenForm
from core.accounts.models.projects import Membership, Project
from core.accounts.models.users import User
from core.accounts.services import first_account, projects, tokens
from core.errors import InputError
from core.messages import show_errors


class FirstAccountForm(BaseUserCreationForm[User]):
    """A name and a password, twice."""

    class Meta:
        model = User
        fields = ("username",)


@public
@never_cache
def create_first_account(request: HttpRequest, key: str) -> HttpResponse:
    """Create it, then sign in with it. Not found without a valid key, and once there is an account."""
    if not first_account.is_valid_key(key) or not first_account.is_needed():
        raise Http404
    form = FirstAccountForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            first_account.create(by=None, username=given["username"], password=given["password1"])
        except InputError as error:
            form.add_error("username", error.message)
        else:
            messages.success(request, _("The account is created. Sign in with it."))
            return redirect("login")
    return render(request, "account/first_account.html", {"form": form})


@researcher_required
def project_list(request: HttpRequest) -> HttpResponse:
    """My projects, and the one that new things go to. The administration makes new ones here."""
    user = get_account(request)
    form = ProjectForm(request.POST or None) if user.is_superuser else None
    if form and form.is_valid() and (made := form.save(user)):
        messages.success(request, _("{project} is there. Add the people who work in it.").format(project=made))
        return redirect("project_detail", slug=made.slug)
    rows = list(queries.list_researched(user))
    return render(request, "annotation/project_list.html", {"rows": rows, "form": form, "several": len(rows) > 1})


@researcher_required
@require_POST
def project_choose(request: HttpRequest, slug: str) -> HttpResponse:
    """New things of mine go there from now on."""
    project = get_object_or_404(Project, slug=slug)
    projects.choose(by=get_account(request), project=project)
    messages.success(request, _("What you make now is of {project}.").format(project=project))
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
        said = _("{name} is {role} of {project}.")
        messages.success(request, said.format(name=made.user.username, role=made.get_role_display(), project=project))
        return redirect("project_detail", slug=slug)
    return render_project(request, project, form)


@owner_required
@require_POST
def member_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Another role for a member."""
    member = find_member(slug, pk)
    with show_errors(request):
        role = request.POST.get("role", "")
        member = projects.join(by=get_account(request), project=member.project, user=member.user, role=role)
        said = _("{name} is {role} now.")
        messages.success(request, said.format(name=member.user.username, role=member.get_role_display()))
    return redirect("project_detail", slug=slug)


@owner_required
@require_POST
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a member out."""
    member = find_member(slug, pk)
    with show_errors(request):
        projects.leave(by=get_account(request), project=member.project, user=member.user)
        said = _("{name} is not in {project} any more.")
        messages.success(request, said.format(name=member.user.username, project=member.project))
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


@require_sign_in
@never_cache
def token_list(request: HttpRequest) -> HttpResponse:
    """My tokens, and a form for a new one, whose text is shown in the answer and never again."""
    user = get_account(request)
    form = TokenForm(request.POST or None, user=user)
    made = form.save(user) if form.is_valid() else None
    now = timezone.now()
    context = {
        "form": TokenForm(user=user) if made else form,
        "made": made,
        "rows": [(token, token.state(now)) for token in user.api_tokens.order_by("-created_at", "-pk")],
    }
    return render(request, "annotation/token_list.html", context)


@require_sign_in
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """From now on the token opens nothing."""
    token = get_object_or_404(get_account(request).api_tokens, pk=pk)
    tokens.revoke(by=get_account(request), token=token)
    messages.success(request, _("{name} is revoked. What uses it has no access any more.").format(name=token.name))
    return redirect("token_list")
