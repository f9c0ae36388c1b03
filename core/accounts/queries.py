"""Projects as their pages and commands show them, and accounts as every request asks for them."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from core.accounts.models.projects import Membership, Project
from core.accounts.models.users import User
from core.accounts.permissions import OWNING, filter_visible
from core.errors import InputError
from core.statements import Columns, load


def list_researched(user: User) -> QuerySet[Project]:
    """Projects that somebody researches in, with `n_members` and `n_owners`, by name."""
    counts = {"n_members": Count("memberships"), "n_owners": Count("memberships", filter=Q(memberships__role="owner"))}
    return filter_visible(user, Project.objects.all()).annotate(**counts).order_by("name")


def members(project: Project) -> QuerySet[Membership]:
    return project.memberships.select_related("user").order_by("user__username")


def owns(user: User, project: Project) -> bool:
    return filter_visible(user, Project.objects.filter(pk=project.pk), roles=OWNING).exists()


def find_project(name: str) -> Project:
    """The project of this address or name; InputError if there is none."""
    found = Project.objects.filter(Q(slug=name) | Q(name=name)).order_by("pk").first()
    if found is None:
        raise InputError("There is no project {name!r}.", field="project", name=name)
    return found


def find_account(username: str, *, field: str) -> User:
    """The account of this name; InputError at the field if there is none."""
    found = User.objects.filter(username=username).first()
    if found is None:
        raise InputError("There is no account {name!r}.", field=field, name=username)
    return found


COLUMNS = Columns(User)
FIND = f"SELECT {COLUMNS.render('annotation_user')} FROM annotation_user WHERE id = %(pk)s"  # noqa: S608 # nosec B608 # columns


def account(pk: int) -> User | None:
    """The account of this id, by a statement that is written out."""
    found = load(FIND, {"pk": pk}, COLUMNS)
    return found[0] if found else None
