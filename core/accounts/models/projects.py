"""Projects: who works together, and sees nothing of what others do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.errors import InputError

if TYPE_CHECKING:
    from core.accounts.models.users import User

DEFAULT_NAME, DEFAULT_SLUG = "Default", "default"


class Project(models.Model):
    """People and their studies, benchmarks, judges and experiments. Nothing of it is seen from another project."""

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=130, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "annotation"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def find_or_create_default(cls) -> Project:
        """Return the only project, created if missing. Raises InputError for several."""
        found = list(cls.objects.order_by("pk")[:2])
        if len(found) > 1:
            raise InputError("There are several projects: say which.", field="project")
        if found:
            return found[0]
        made, _ = cls.objects.get_or_create(slug=DEFAULT_SLUG, defaults={"name": DEFAULT_NAME})
        return made


class Membership(models.Model):
    """What one account may do in one project."""

    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        RESEARCHER = "researcher", _("researcher")
        ADJUDICATOR = "adjudicator", _("adjudicator")

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "annotation"
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_one_per_project"),
            models.CheckConstraint(
                condition=Q(role__in=["owner", "researcher", "adjudicator"]), name="membership_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.project}"


RESEARCHING = (Membership.Role.OWNER.value, Membership.Role.RESEARCHER.value)
DECIDING = (*RESEARCHING, Membership.Role.ADJUDICATOR.value)
"""Roles that may adjudicate."""


def find_home(user: User) -> Project:
    """Where new things of somebody go: into the only project that they research in, else into the one chosen."""
    mine = Project.objects.filter(memberships__user=user, memberships__role__in=RESEARCHING)
    found = list((Project.objects.all() if user.is_superuser else mine).order_by("pk"))
    if chosen := next((one for one in found if one.pk == user.working_in_id), None):
        return chosen
    if not found and not user.is_superuser:
        raise InputError("You research in no project: its owner adds you.", field="project")
    if len(found) > 1:
        raise InputError("You are in several projects: choose first in which one you work.", field="project")
    return found[0] if found else Project.find_or_create_default()


def choose_project(by: User | None, named: Project | None = None) -> Project:
    """Choose the project of a new row: the one named, else that of the account, else (`by` is None) the only one."""
    return named or (find_home(by) if by else Project.find_or_create_default())


def check_project(study: InProject, named: Project | None) -> None:
    """Raise InputError where another project is named than that of a study that is there."""
    if named is not None and named.pk != study.project_id:
        raise InputError("The study is of another project.", field="project")


class InProject(models.Model):
    """A thing with nothing above it but its project."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="+")

    class Meta:
        abstract = True
