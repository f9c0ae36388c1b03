"""Who is alive."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from core.audit.models import Act
from judging.judges.models.judges import IN_TURN, Judge
from judging.judges.models.limits import Seat
from judging.judges.models.workers import Worker


def compute_gone_before() -> datetime:
    """A process last seen before this moment counts as gone."""
    return timezone.now() - timedelta(seconds=settings.WORKER_GONE_SECONDS)


def alive() -> QuerySet[Worker]:
    """The Celery workers that take work from the queue and were seen lately."""
    return Worker.objects.filter(slots__gt=0, seen_at__gte=compute_gone_before())


def clock_was_ahead() -> timedelta:
    """By how much the newest moment that the database knows of is yet to come; zero where it is past.

    It is a worker's sign of life or an act. If it is to come, the clock was set back since, at least by that much.
    """
    now = timezone.now()
    seen = Worker.objects.aggregate(at=Max("seen_at"))["at"]
    done = Act.objects.order_by("-number").values_list("at", flat=True).first()
    return max([timedelta(), *(one - now for one in (seen, done) if one)])


def unheld(way: str = "") -> Q:
    """Of parts, which are found under `way`: no living process holds it."""
    return Q(**{f"{way}worker__isnull": True}) | Q(**{f"{way}worker__seen_at__lt": compute_gone_before()})


def are_busy_with_another(judge: Judge) -> bool:
    """Whether another model is at work on this machine, where this judge would work too: they take turns."""
    taken = Seat.objects.filter(judge__provider=judge.provider, worker__seen_at__gte=compute_gone_before())
    return judge.provider in IN_TURN and taken.exists()
