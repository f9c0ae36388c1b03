"""The leases of a run's parts. The last part that is over finishes the run."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from annotation.studies.services import webhooks
from core.jobs.heartbeat import is_held
from core.jobs.leases import Leases, send
from judging.judges.models import Worker
from judging.judges.queries.workers import alive
from judging.runs.models.runs import JudgeChunk, JudgeRun

logger = logging.getLogger(__name__)

EVALUATION_TASK = "judging.evaluation_results"
MOST_TRIES = 20


class BatchLeases(Leases[JudgeChunk]):
    """Parts of runs that are neither finished nor stopped."""

    MODEL = JudgeChunk
    TASK = "judging.judge_chunk"
    RELATED = ("run__study", "run__judge")

    def unfinished(self) -> QuerySet[JudgeChunk]:
        return super().unfinished().filter(run__finished_at__isnull=True, run__stopped_at__isnull=True)

    def give_up(self, row: JudgeChunk, unchanged: QuerySet[JudgeChunk]) -> None:
        if unchanged.update(finished_at=timezone.now(), error=self.say_given_up(row.attempts, row.error)):
            self.finish_run(row.run_id)

    def claim_next(self, run: JudgeRun, worker: Worker) -> JudgeChunk | None:
        """The run's next part that is free, now held by `worker`; None if there is none."""
        for _ in range(MOST_TRIES):
            others = self.claimable().filter(run=run).exclude(worker=worker)
            found = others.order_by("index").values_list("pk", flat=True).first()
            if found is None:
                return None
            if chunk := self.claim(found, worker):
                return chunk
        return None

    def still_held(self, worker: Worker, run: JudgeRun) -> set[int]:
        """The run's parts that are still the worker's to work on: not taken away, and the run not stopped."""
        return set(self.unfinished().filter(run=run, worker=worker).values_list("pk", flat=True))

    def progressed(self, chunk: JudgeChunk, worker: Worker) -> None:
        """Something of the part was saved: whatever ended earlier attempts, it is not that the part ends each."""
        if chunk.attempts > 1:
            self.filter_held(chunk, worker).update(attempts=1)
            chunk.attempts = 1

    def lost(self, before: datetime) -> list[int]:
        """Parts whose message must have been lost, while a worker has nothing to do: many wait for long in a run."""
        slots = alive().aggregate(total=Sum("slots"))["total"] or 0
        spare = max(slots - self.unfinished().filter(is_held()).count(), 0)
        return super().lost(before)[: 4 * spare]

    def finish(self, chunk: JudgeChunk, worker: Worker, error: str = "") -> None:
        """The worker is through with the part; `error` says what it could not do. The last part finishes the run.

        The run is looked at after the part is committed, so that of two processes ending at once the later one sees
        both.
        """
        if self.filter_held(chunk, worker).update(finished_at=timezone.now(), error=error):
            if error:
                logger.warning("%s ended early: %s", chunk, error)
            self.finish_run(chunk.run_id)

    def finish_run(self, run_id: int) -> bool:
        """Mark the run finished if no part is left. One process gets to do it."""
        left = JudgeChunk.objects.filter(run=run_id, finished_at__isnull=True)
        running = JudgeRun.objects.filter(pk=run_id, finished_at__isnull=True, stopped_at__isnull=True)
        if left.exists():
            return False
        now = timezone.now()
        with transaction.atomic():
            if running.update(finished_at=now) != 1:
                return False
            run = JudgeRun.objects.select_related("study", "judge").get(pk=run_id)
            data = {"run": run.pk, "study": run.study.slug, "judge": str(run.judge)}
            subject = f"run {run.pk} {now.isoformat()}"
            webhooks.tell("run.finished", project=run.study.project_id, subject=subject, data=data)
            if evaluation := run.evaluation_id:
                transaction.on_commit(lambda: send(EVALUATION_TASK, [evaluation]))
        return True


leases = BatchLeases()
