"""Tenancy: which project a row belongs to, and who may see it, for pages, the API and exports.

Every table with a project has the lookup of its project in `PROJECT_LOOKUPS`; every part of an address that names a row
has its table in `ROUTE_OBJECTS`. Apps add their own (`judging/tenancy.py`, `simulation/tenancy.py`). A part without a
rule is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, Model, QuerySet
from django.http import Http404

from core.accounts.models.projects import DECIDING, RESEARCHING, Membership
from core.accounts.models.users import User
from core.errors import InputError

Row = TypeVar("Row", bound=Model)
Account = User | AnonymousUser

OWNING = (Membership.Role.OWNER.value,)
ADJUDICATING = (Membership.Role.ADJUDICATOR.value,)
LARGEST = 2**63 - 1


class RouteObject(Enum):
    """A part of an address that names no row with a project."""

    LIBRARY = "material, which all researchers of the site share"
    SITE = "of the site as a whole"
    OWN = "the view finds it among what the account itself has"
    WITHIN = "the view finds it within what stands before it in the address"
    WORD = "no row: the form of a file, a plot, a page of a tool"


PROJECT_LOOKUPS: dict[str, str] = {
    "annotation.Project": "pk",
    "annotation.Study": "project",
    "annotation.Item": "study__project",
    "annotation.BenchmarkCase": "benchmark__project",
    "annotation.Benchmark": "project",
    "annotation.SavedMapping": "project",
    "annotation.Webhook": "project",
}
"""Table -> lookup of its project."""

ROUTE_OBJECTS: dict[str, tuple[str, str] | RouteObject] = {
    "studies/<slug:slug>": ("annotation.Study", "slug"),
    "studies/<slug:slug>/annotators/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/queue/known/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/adjudication/late/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/late/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/known/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/invitations/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/coming-in/invitations/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/coming-in/questions/<int:pk>": RouteObject.WITHIN,
    "studies/<slug:slug>/participants/<int:pk>": RouteObject.WITHIN,
    "benchmarks/<slug:slug>": ("annotation.Benchmark", "slug"),
    "benchmarks/<slug:slug>/cases/<int:pk>": RouteObject.WITHIN,
    "projects/<slug:slug>": ("annotation.Project", "slug"),
    "projects/<slug:slug>/members/<int:pk>": RouteObject.WITHIN,
    "material/import/files/<str:key>": RouteObject.OWN,
    "mappings/<int:pk>": ("annotation.SavedMapping", "pk"),
    "material/mappings/<int:pk>": ("annotation.SavedMapping", "pk"),
    "webhooks/<int:pk>": ("annotation.Webhook", "pk"),
    "profiles/<int:pk>": RouteObject.LIBRARY,
    "tasks/<int:pk>": RouteObject.LIBRARY,
    "dialogues/<int:pk>": RouteObject.LIBRARY,
    "pairs/<int:pk>": RouteObject.LIBRARY,
    "people/<int:pk>": RouteObject.SITE,
    "tokens/<int:pk>": RouteObject.OWN,
    "attachments/<slug:sha256>": RouteObject.OWN,
    "work/<slug:slug>": RouteObject.OWN,
    "work/items/<slot:pk>": RouteObject.OWN,
    "work/items/<slug:name>": RouteObject.OWN,
    "join/<str:token>": RouteObject.OWN,
    "register/<slug:slug>": RouteObject.OWN,
}
"""Address up to a part -> the table and column that the part names."""

NAMED: dict[str, RouteObject] = {
    "format": RouteObject.WORD,
    "form": RouteObject.WORD,
    "part": RouteObject.WORD,
    "plot": RouteObject.WORD,
    "tool": RouteObject.WORD,
    "key": RouteObject.WITHIN,
    "position": RouteObject.WITHIN,
    "index": RouteObject.WITHIN,
    "username": RouteObject.WITHIN,
}
"""What parts of these names are wherever they stand."""

API = "api/v1/"
VARIES = re.compile(r"<(?:\w+:)?(\w+)>")


def register(*, ways: Mapping[str, str], parts: Mapping[str, tuple[str, str] | RouteObject]) -> None:
    """Add an app's tables and addresses."""
    PROJECT_LOOKUPS.update(ways)
    ROUTE_OBJECTS.update(parts)


@cache
def list_rules(route: str) -> tuple[tuple[str, tuple[str, str] | RouteObject], ...]:
    """Each part of a route with its rule. LookupError for a part without one: nobody comes in there."""
    route = route.removeprefix(API)
    found = []
    for varies in VARIES.finditer(route):
        rule = ROUTE_OBJECTS.get(route[: varies.end()], NAMED.get(varies[1]))
        if rule is None:
            raise LookupError(f"core/accounts/permissions.py: {route[: varies.end()]} has no rule")
        found.append((varies[1], rule))
    return tuple(found)


def names_a_row(route: str) -> bool:
    """Whether an address names something of a project."""
    return any(isinstance(rule, tuple) for _, rule in list_rules(route))


def study_model() -> type[Model]:
    """The table of studies, by name: `core` stands below the app that holds it."""
    return apps.get_model("annotation", "Study")


def find_lookup(model: type[Model]) -> str:
    return PROJECT_LOOKUPS[model._meta.label]


def memberships(user: Account, roles: tuple[str, ...] = RESEARCHING) -> QuerySet[Membership, object]:
    """Keys of the projects in which somebody has one of the roles."""
    return Membership.objects.filter(user=user.pk, role__in=roles).values("project")


def filter_visible(user: Account, rows: QuerySet[Row], *, roles: tuple[str, ...] = RESEARCHING) -> QuerySet[Row, Any]:
    """Filter rows to the projects in which the account has one of the roles. Adds no query."""
    if user.is_superuser:
        return rows
    return rows.filter(**{f"{find_lookup(rows.model)}__in": memberships(user, roles)})


def sees(user: Account | None, row: Model | None, *, roles: tuple[str, ...] = RESEARCHING) -> bool:
    """Return whether a named row is of a project of theirs. A command has no account and sees every row."""
    return (
        row is not None
        and (user is None or filter_visible(user, type(row)._base_manager.filter(pk=row.pk), roles=roles).exists())
    )  # fmt: skip


def unless_taken(user: Account | None, row: Row | None, *, field: str = "name") -> Row | None:
    """The row of a name that somebody gave. If another project has it, nothing is said but that the name is taken."""
    if row is not None and not sees(user, row):
        raise InputError("This name is taken.", field=field)
    return row


def require_project_access(user: Account, route: str, given: Mapping[str, object], *, roles: tuple[str, ...]) -> None:
    """404 where an address names something of a project in which somebody has none of the roles. One query at most."""
    if not is_allowed(user, route, given, roles=roles):
        raise Http404("Not found.")


def is_allowed(user: Account, route: str, given: Mapping[str, object], *, roles: tuple[str, ...]) -> bool:
    """Whether all that an address names is theirs to see. What does not exist is not."""
    named = [(given[name], *rule) for name, rule in list_rules(route) if isinstance(rule, tuple)]
    if any(isinstance(value, int) and value > LARGEST for value in given.values()):
        return False
    if not named or user.is_superuser:
        return True
    mine = memberships(user, roles)
    there = [
        Exists(model._base_manager.filter(**{column: value, f"{find_lookup(model)}__in": mine}))
        for value, label, column in named
        for model in [apps.get_model(label)]
    ]
    return isinstance(user, User) and User.objects.filter(*there, pk=user.pk).exists()


__all__ = [
    "ADJUDICATING",
    "DECIDING",
    "NAMED",
    "OWNING",
    "PROJECT_LOOKUPS",
    "RESEARCHING",
    "ROUTE_OBJECTS",
    "Account",
    "RouteObject",
    "filter_visible",
    "is_allowed",
    "list_rules",
    "memberships",
    "names_a_row",
    "register",
    "require_project_access",
    "sees",
    "unless_taken",
]
