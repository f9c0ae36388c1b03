"""Orders of material, and conflicts with what was decided of them."""

from __future__ import annotations

from django.db.models import OuterRef, QuerySet, Subquery

from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from simulation.generation.models.orders import Conflict, ConflictReview, Making


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
