"""What waits, what is in work and what ended early, over all runs: for whoever keeps the site running."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from core.jobs.heartbeat import gone_before, is_held
from judging.judges.models import Worker
from judging.runs.models.runs import JudgeChunk, JudgeRun

MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class Queue:
    """Parts of running judge runs. `oldest` is when the part that waits longest became due."""

    waiting: int
    held: int
    later: int
    oldest: datetime | None

    @property
    def oldest_seconds(self) -> float:
        """How long the oldest has been due; 0 where nothing waits."""
        return max((timezone.now() - self.oldest).total_seconds(), 0.0) if self.oldest else 0.0


def queue() -> Queue:
    """One query."""
    now, held = timezone.now(), is_held()
    due = ~held & (Q(queued_at__isnull=True) | Q(queued_at__lte=now))
    running = JudgeChunk.objects.filter(finished_at=None, run__stopped_at=None, run__finished_at=None)
    found = running.aggregate(
        waiting=Count("pk", filter=due),
        held=Count("pk", filter=held),
        later=Count("pk", filter=~held & Q(queued_at__gt=now)),
        oldest=Min("queued_at", filter=due),
    )
    return Queue(**found)


def runs_by_state() -> dict[str, int]:
    """How many runs are running, stopped, finished. One query."""
    running = Q(finished_at=None, stopped_at=None)
    return JudgeRun.objects.aggregate(
        running=Count("pk", filter=running),
        stopped=Count("pk", filter=Q(stopped_at__isnull=False)),
        finished=Count("pk", filter=Q(finished_at__isnull=False)),
    )


def list_needing_attention(runs: QuerySet[JudgeRun]) -> QuerySet[JudgeRun]:
    """Of the runs, those that are running, ended with parts that could not be done, or stopped; the newest first."""
    ended_early = JudgeChunk.objects.filter(run=OuterRef("pk"), finished_at__isnull=False).exclude(error="")
    wanted = Q(finished_at=None, stopped_at=None) | Q(Exists(ended_early)) | ~Q(stop_reason="")
    return (
        runs.filter(wanted)
        .select_related("study", "judge")
        .annotate(ended_early=Count("chunks", filter=Q(chunks__finished_at__isnull=False) & ~Q(chunks__error="")))
        .order_by("-created_at", "-pk")[:MOST_RUNS]
    )


def processes() -> QuerySet[Worker]:
    """Living processes with the parts that each holds, by name."""
    return (
        Worker.objects.filter(seen_at__gte=gone_before())
        .annotate(parts=Count("chunks", filter=Q(chunks__finished_at=None)))
        .order_by("name")
    )
