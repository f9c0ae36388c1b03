"""What a worker looks after besides its work on runs: lost work, and what other rooms have left to send."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.studies.services import webhooks
from annotation.workbench.services import overlap
from core.jobs import leases as recovery
from judging.judges.models import Worker
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.services import runs
from judging.runs.services.leases import leases

FORGOTTEN_AFTER = timedelta(days=1)


def sweep() -> int:
    """Hand out again what nobody works on. Any number of processes may do this at once. Returns how many parts."""
    n = recovery.sweep(Worker, [leases])
    finish_runs()
    runs.call_back_batches()
    webhooks.send_due()
    overlap.send_due()
    Worker.objects.filter(seen_at__lt=timezone.now() - FORGOTTEN_AFTER).delete()
    return n


def take_over() -> int:
    return recovery.take_over(Worker, [leases])


def move_due_times(by: timedelta) -> None:
    recovery.set_back(Worker, [leases], by)


def finish_runs() -> None:
    """Finish the runs whose process ended between the last part and that."""
    left = JudgeChunk.objects.filter(run=OuterRef("pk"), finished_at__isnull=True)
    for run in JudgeRun.objects.filter(~Exists(left), finished_at__isnull=True, stopped_at__isnull=True):
        leases.finish_run(run.pk)
