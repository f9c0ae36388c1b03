"""Who is alive."""

from __future__ import annotations

from django.db.models import QuerySet

from core.jobs.heartbeat import gone_before, is_held
from judging.judges.models.judges import IN_TURN, Judge
from judging.judges.models.limits import Seat
from judging.judges.models.workers import Worker


def alive() -> QuerySet[Worker]:
    """The Celery workers that take work from the queue and were seen lately."""
    return Worker.objects.filter(slots__gt=0, seen_at__gte=gone_before())


def are_busy_with_another(judge: Judge) -> bool:
    """Whether another model is at work on this machine, where this judge would work too: they take turns."""
    taken = Seat.objects.filter(is_held(), judge__provider=judge.provider)
    return judge.provider in IN_TURN and taken.exists()
