"""Orders of material, and conflicts with what was decided of them."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, OuterRef, QuerySet, Subquery

from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.errors import InputError
from simulation.generation.models.orders import Conflict, ConflictReview, Making

Row = TypeVar("Row", bound=Model)


def orders() -> QuerySet[Making]:
    """All orders, newest first."""
    return Making.objects.select_related("agent", "profile").order_by("-created_at", "-pk")


def conflicts() -> QuerySet[Conflict]:
    """All conflicts with the newest decision, those that wait for one first."""
    newest = ConflictReview.objects.filter(conflict=OuterRef("pk")).order_by("-decided_at", "-pk")
    return (
        Conflict.objects.select_related("profile", "making__agent")
        .prefetch_related("reviews__decided_by")
        .annotate(decision=Subquery(newest.values("decision")[:1]))
    )


def count_undecided(by: User) -> int:
    return filter_visible(by, Conflict.objects.filter(reviews__isnull=True)).count()


def find_record(kind: type[Row], external_id: str, *, field: str) -> Row | None:
    """The profile or task of this id; None where none is named. InputError, with the field, where there is none."""
    name = external_id.strip()
    found = kind._default_manager.filter(external_id=name).order_by("source").first() if name else None
    if name and found is None:
        raise InputError(f"There is no {field} {name!r}.", field=field)
    return found
