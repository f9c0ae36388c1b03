"""Who is alive, and what keeps a model from being asked."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from core.jobs.heartbeat import gone_before, is_held
from judging.judges.models import IN_TURN, Judge, Pause, Seat, Worker


def alive() -> QuerySet[Worker]:
    """The Celery workers that take work from the queue and were seen lately."""
    return Worker.objects.filter(slots__gt=0, seen_at__gte=gone_before())


def are_busy_with_another(judge: Judge) -> bool:
    """Whether another model is at work on this machine, where this judge would work too: they take turns."""
    taken = Seat.objects.filter(is_held(), judge__provider=judge.provider)
    return judge.provider in IN_TURN and taken.exists()


def find_pause(judge: Judge) -> datetime | None:
    """When the judge's model may be asked again; None if it may be now. One query."""
    row = Pause.objects.filter(provider=judge.provider, model=judge.model, until__gt=timezone.now())
    return row.values_list("until", flat=True).first()
