"""Projects and who is in them. The last owner stays: a project that nobody manages could not be handed on."""

from __future__ import annotations

from django.db import IntegrityError, models, transaction
from django.utils.text import slugify

from core.accounts.models.projects import RESEARCHING, Membership, Project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.names import check_name, number_name

RESERVED_SLUGS = ("new", "choose")  # their places among the addresses are those of forms
OWNER = Membership.Role.OWNER.value


@audited("project.make", says=("name", "owner"))
def make(*, by: User | None, name: str, owner: User | None = None) -> Project:
    """A project, owned by `owner` or by whoever makes it. Only the site's administration and its operator make one."""
    if by and not by.is_superuser:
        raise InputError("The site's administration makes projects.", field="name")
    name = check_name(name, what="A project")
    try:
        with transaction.atomic():
            made = Project.objects.create(name=name, slug=free_slug(name))
    except IntegrityError as error:
        raise InputError("This name is taken.", field="name") from error
    if first := owner or by:
        join(by=by, project=made, user=first, role=OWNER)
    return made


@audited("project.join", on="project", says=("user", "role"))
def join(*, by: User | None, project: Project, user: User, role: str) -> Membership:
    """Give somebody a role in a project, or another one.

    Who owns it or researches in it must be a researcher of the site. The operator and the administration make them one.
    """
    if role not in Membership.Role.values:
        raise InputError(
            "{role!r} is not one of {values}.", field="role", role=role, values=", ".join(Membership.Role.values)
        )
    if user.kind != User.Kind.PERSON:
        raise InputError("{username} is not a person's account.", field="user", username=user.username)
    if user.erased_at:
        raise InputError(
            "{username} is erased: nobody can sign in to the account.", field="user", username=user.username
        )
    with transaction.atomic():
        others = lock_owners(project).exclude(user=user)
        if role in RESEARCHING and not user.is_researcher:
            if by and not by.is_superuser:
                raise InputError(
                    "{username} is not a researcher here: the site's administration makes researchers.",
                    field="user",
                    username=user.username,
                )
            user.is_researcher = True
            user.save(update_fields=["is_researcher"])
        if role != OWNER and not others.exists() and lock_owners(project).exists():
            raise InputError("A project keeps an owner: make another one first.", field="role")
        membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        settle(user)
    return membership


@audited("project.leave", on="project", says=("user",))
def leave(*, by: User | None, project: Project, user: User) -> None:  # noqa: ARG001
    """Take somebody out of a project. What they did there stays."""
    with transaction.atomic():
        found = project.memberships.filter(user=user)
        if not found.exists():
            raise InputError("{username} is not in {project}.", field="user", username=user.username, project=project)
        if not lock_owners(project).exclude(user=user).exists():
            raise InputError("A project keeps an owner: make another one first.", field="user")
        found.delete()
        settle(user)


@audited("project.choose", on="project")
def choose(*, by: User, project: Project) -> None:
    """From now on new things of theirs go there."""
    by.working_in = project
    by.save(update_fields=["working_in"])


def lock_owners(project: Project) -> models.QuerySet[Membership]:
    """The owners, locked until the transaction ends: two of them must not remove each other."""
    Project.objects.select_for_update().get(pk=project.pk)
    return project.memberships.filter(role=OWNER)


def settle(user: User) -> None:
    """Where they work: nothing to choose with one project, and the oldest one until they choose with several."""
    mine = list(
        user.memberships.filter(role__in=RESEARCHING).order_by("created_at", "pk").values_list("project", flat=True)
    )
    if len(mine) > 1 and user.working_in_id in mine:
        return
    user.working_in_id = mine[0] if len(mine) > 1 else None
    user.save(update_fields=["working_in"])


def free_slug(name: str) -> str:
    """The name as it can stand in an address, with a number where that is taken."""
    base = slugify(name)[:110] or "project"
    taken = {*RESERVED_SLUGS, *Project.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    return number_name(base, taken)
