"""The parts of a run change hands by conditional updates: who changes the row has it, and nobody waits for a lock."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.studies.services import webhooks
from judging.judges.models.workers import Worker
from judging.judges.queries.workers import unheld
from judging.runs.models.runs import JudgeChunk, JudgeRun

logger = logging.getLogger(__name__)

TASK = "judging.judge_chunk"
EVALUATION_TASK = "judging.evaluation_results"
MOST_ATTEMPTS = 10
MOST_TRIES = 20
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0  # seconds


def list_unfinished() -> QuerySet[JudgeChunk]:
    """Parts left of runs that are neither finished nor stopped."""
    return JudgeChunk.objects.filter(
        finished_at__isnull=True, run__finished_at__isnull=True, run__stopped_at__isnull=True
    )


def free(chunk_id: int) -> JudgeChunk | None:
    """The part if anybody may claim it: left, due, and held by no living process."""
    due = Q(queued_at__isnull=True) | Q(queued_at__lte=timezone.now())
    return list_unfinished().select_related("run__study", "run__judge").filter(unheld(), due, pk=chunk_id).first()


def claim(chunk_id: int, worker: Worker) -> JudgeChunk | None:
    """The part, now held by `worker`; None if it is done, stopped, not due yet, or in other hands.

    A process that stood still for so long that it counts as gone still holds its parts: it does not claim them again.

    The update names only columns of the row itself, as it was read: a database that makes it wait for another
    claimant then looks at the row again, which it would not do for a condition on other tables.
    """
    chunk = free(chunk_id)
    if chunk is None or chunk.worker_id == worker.pk:
        return None
    unchanged = JudgeChunk.objects.filter(
        pk=chunk.pk, worker=chunk.worker_id, attempts=chunk.attempts, finished_at__isnull=True
    )
    if chunk.attempts >= MOST_ATTEMPTS:
        give_up(chunk, unchanged)
        return None
    if not unchanged.update(worker=worker, attempts=F("attempts") + 1):
        return None
    chunk.worker, chunk.attempts = worker, chunk.attempts + 1
    return chunk


def give_up(chunk: JudgeChunk, unchanged: QuerySet[JudgeChunk]) -> None:
    """Close a part that ended early too often: it kills the process that works on it, or the service stays away."""
    why = chunk.error or "The process that worked on it ended each time."
    if unchanged.update(finished_at=timezone.now(), error=f"Given up after {chunk.attempts} attempts. {why}"):
        finish_run(chunk.run_id)


def claim_next(run: JudgeRun, worker: Worker) -> JudgeChunk | None:
    """The run's next part that is free, now held by `worker`; None if there is none."""
    due = Q(queued_at__isnull=True) | Q(queued_at__lte=timezone.now())
    for _ in range(MOST_TRIES):
        others = list_unfinished().filter(unheld(), due, run=run).exclude(worker=worker)
        found = others.order_by("index").values_list("pk", flat=True).first()
        if found is None:
            return None
        if chunk := claim(found, worker):
            return chunk
    return None


def list_still_held(worker: Worker, run: JudgeRun) -> set[int]:
    """The run's parts that are still the worker's to work on: not taken away, and the run not stopped."""
    return set(list_unfinished().filter(run=run, worker=worker).values_list("pk", flat=True))


def mark_progress(chunk: JudgeChunk, worker: Worker) -> None:
    """Something of the part was saved: whatever ended earlier attempts, it is not that the part ends each."""
    if chunk.attempts > 1:
        JudgeChunk.objects.filter(pk=chunk.pk, worker=worker, finished_at__isnull=True).update(attempts=1)
        chunk.attempts = 1


def is_other_work_due(run: JudgeRun) -> bool:
    """Whether parts of other runs are due and in nobody's hands."""
    due = list_unfinished().filter(worker__isnull=True, queued_at__lte=timezone.now())
    return due.exclude(run=run).exists()


def finish(chunk: JudgeChunk, worker: Worker, *, error: str = "") -> None:
    """The worker is through with the part; `error` says what it could not do. The last part finishes the run.

    The run is looked at after the part is committed, so that of two processes ending at once the later one sees both.
    """
    held = JudgeChunk.objects.filter(pk=chunk.pk, worker=worker, finished_at__isnull=True)
    if held.update(finished_at=timezone.now(), error=error):
        if error:
            logger.warning("%s ended early: %s", chunk, error)
        finish_run(chunk.run_id)


def finish_run(run_id: int) -> bool:
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
            transaction.on_commit(lambda: compute_evaluation_later(evaluation))
    return True


def compute_evaluation_later(evaluation_id: int) -> None:
    """Leave an evaluation's results to a worker, so that who looks at the page first does not wait for them."""
    try:
        current_app.send_task(EVALUATION_TASK, args=[evaluation_id])
    except OperationalError:
        logger.exception("The broker took no message about evaluation %s; its page computes them.", evaluation_id)


def release(chunk: JudgeChunk, worker: Worker) -> None:
    """The worker lets go of a part that it has not finished, through no fault of the part."""
    held = JudgeChunk.objects.filter(pk=chunk.pk, worker=worker, finished_at__isnull=True)
    held.update(worker=None, attempts=F("attempts") - 1)


def postpone(chunk: JudgeChunk, worker: Worker, *, error: str, retry_after: float | None) -> None:
    """Try the rest of the part later: after the time asked for, or twice as long each time."""
    wait = max(retry_after or 0.0, min(FIRST_WAIT * 2 ** (chunk.attempts - 1), LONGEST_WAIT))
    held = JudgeChunk.objects.filter(pk=chunk.pk, worker=worker, finished_at__isnull=True)
    if held.update(worker=None, error=error, queued_at=timezone.now() + timedelta(seconds=wait)):
        logger.warning("%s waits %.0f s: %s", chunk, wait, error)
        send([chunk.pk], wait=wait)


def put_off(chunk: JudgeChunk, worker: Worker, *, seconds: float, error: str = "") -> None:
    """Hand a part back for a while, through no fault of its own: that counts as no attempt."""
    due = timezone.now() + timedelta(seconds=seconds)
    held = JudgeChunk.objects.filter(pk=chunk.pk, worker=worker, finished_at__isnull=True)
    if held.update(worker=None, attempts=F("attempts") - 1, queued_at=due, error=error):
        send([chunk.pk], wait=seconds)


def queue(chunk_ids: Sequence[int]) -> None:
    """Note that messages go out for these parts, and send them once that is committed."""
    with transaction.atomic():
        JudgeChunk.objects.filter(pk__in=chunk_ids).update(queued_at=timezone.now())
        transaction.on_commit(lambda: send(chunk_ids))


def send(chunk_ids: Sequence[int], *, wait: float | None = None) -> None:
    """A message for each part. If the broker is away, the parts stay queued and a worker's sweep finds them."""
    try:
        for chunk_id in chunk_ids:
            current_app.send_task(TASK, args=[chunk_id], countdown=wait)
    except OperationalError:
        logger.exception("The broker cannot be reached. The run goes on by itself once a worker can reach it.")
