"""Tenancy: which project a row belongs to, and who may see it, for pages, the API and exports.

Every table with a project has the lookup of its project in `PROJECT_LOOKUPS`. Every part of an address says what it
names: `studies/<study:slug>/` names a study by its slug. Apps add their own (`judging/tenancy.py`,
`simulation/tenancy.py`). A part such as `<int:pk>`, which does not say, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, Model, QuerySet
from django.http import Http404
from django.urls import register_converter
from django.urls.converters import IntConverter, SlugConverter, StringConverter

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


@dataclass(frozen=True)
class AddressPart:
    """A part of an address such as `<study:slug>`: how it is written, and the table and column whose row it names."""

    written: type[IntConverter] | type[StringConverter]
    names: tuple[str, str] | RouteObject


PLAIN: dict[type, str] = {IntConverter: "int", SlugConverter: "slug", StringConverter: "str"}
PARTS: dict[str, AddressPart] = {}
"""By what stands before the colon."""

VARIES = re.compile(r"<(?:(?P<part>\w+):)?(?P<name>\w+)>")


def register(*, ways: Mapping[str, str], parts: Mapping[str, AddressPart]) -> None:
    """Add an app's tables, and the parts of its addresses as path converters. Before addresses are loaded."""
    PROJECT_LOOKUPS.update(ways)
    PARTS.update(parts)
    for name, part in parts.items():
        register_converter(type(name, (part.written,), {}), name)


register(
    ways={},
    parts={
        "project": AddressPart(SlugConverter, ("annotation.Project", "slug")),
        "study": AddressPart(SlugConverter, ("annotation.Study", "slug")),
        "benchmark": AddressPart(SlugConverter, ("annotation.Benchmark", "slug")),
        "mapping": AddressPart(IntConverter, ("annotation.SavedMapping", "pk")),
        "webhook": AddressPart(IntConverter, ("annotation.Webhook", "pk")),
        "library": AddressPart(IntConverter, RouteObject.LIBRARY),
        "site": AddressPart(IntConverter, RouteObject.SITE),
        "own": AddressPart(SlugConverter, RouteObject.OWN),
        "own_number": AddressPart(IntConverter, RouteObject.OWN),
        "own_text": AddressPart(StringConverter, RouteObject.OWN),
        "within": AddressPart(IntConverter, RouteObject.WITHIN),
        "within_key": AddressPart(SlugConverter, RouteObject.WITHIN),
        "within_text": AddressPart(StringConverter, RouteObject.WITHIN),
        "word": AddressPart(SlugConverter, RouteObject.WORD),
    },
)


@cache
def list_rules(route: str) -> tuple[tuple[str, tuple[str, str] | RouteObject], ...]:
    """Each part of a route with what it names. LookupError for a part that does not say: nobody comes in there."""
    found = []
    for varies in VARIES.finditer(route):
        part = PARTS.get(varies["part"])
        if part is None:
            raise LookupError(f"{route}: {varies[0]} does not say what it names (core/accounts/permissions.py)")
        found.append((varies["name"], part.names))
    return tuple(found)


def to_plain_route(route: str) -> str:
    """The route with the converters of Django in place of Concord's: `<int:pk>` of `<judge:pk>`."""

    def plain(varies: re.Match[str]) -> str:
        part = PARTS.get(varies["part"])
        written = part and PLAIN.get(part.written)
        return f"<{written}:{varies['name']}>" if written else varies[0]

    return VARIES.sub(plain, route)


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
    "OWNING",
    "PARTS",
    "PROJECT_LOOKUPS",
    "RESEARCHING",
    "Account",
    "AddressPart",
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
