"""An experiment changes hands by conditional updates: who changes the row has it. One process holds it at a time.

A dialogue is mostly waiting, so one process keeps as many in flight as the models allow; several experiments go to
several workers.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.studies.services import webhooks
from judging.judges.models.workers import Worker
from judging.judges.queries.workers import unheld
from judging.runs.models.runs import JudgeChunk
from simulation.agents.models import Agent
from simulation.experiments.models.experiments import Experiment
from simulation.generation.models.orders import Making

logger = logging.getLogger(__name__)

TASK = "simulation.play"
MOST_ATTEMPTS = 10
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0  # seconds


def list_unfinished() -> QuerySet[Experiment]:
    """Experiments that are neither finished nor stopped."""
    return Experiment.objects.filter(finished_at__isnull=True, stopped_at__isnull=True)


def free(pk: int) -> Experiment | None:
    """The experiment if anybody may claim it: left, due, and held by no living process."""
    due = Q(queued_at__isnull=True) | Q(queued_at__lte=timezone.now())
    return list_unfinished().select_related("user_agent", "embedder").filter(unheld(), due, pk=pk).first()


def claim(pk: int, worker: Worker) -> Experiment | None:
    """The experiment, now held by `worker`; None if it is over, not due yet, or in other hands.

    The update names only columns of the row itself, as it was read: a database that makes it wait for another claimant
    then looks at the row again.
    """
    found = free(pk)
    if found is None or found.worker_id == worker.pk:  # a process that stood still holds what it held
        return None
    unchanged = Experiment.objects.filter(
        pk=pk, worker=found.worker_id, queued_at=found.queued_at, finished_at__isnull=True, stopped_at__isnull=True
    )
    if found.attempts >= MOST_ATTEMPTS:
        why = found.error or "The process that worked on it ended each time."
        unchanged.update(stopped_at=timezone.now(), stop_reason=f"Given up after {found.attempts} attempts. {why}")
        return None
    if not unchanged.update(worker=worker, attempts=F("attempts") + 1):
        return None
    found.worker, found.attempts = worker, found.attempts + 1
    return found


def is_still_held(experiment: Experiment, worker: Worker) -> bool:
    return list_unfinished().filter(pk=experiment.pk, worker=worker).exists()


def mark_progress(experiment: Experiment, worker: Worker) -> None:
    """A turn was saved: what went wrong before is over."""
    held = Experiment.objects.filter(pk=experiment.pk, worker=worker)
    held.exclude(attempts=1, error="").update(attempts=1, error="")


def is_other_work_due(*, experiment: Experiment | None = None, agent: Agent | None = None) -> bool:
    """Whether work is due and in nobody's hands, other than this experiment or the orders of this agent."""
    now = timezone.now()
    others = list_unfinished().filter(worker__isnull=True, queued_at__lte=now)
    others = others.exclude(pk=experiment.pk) if experiment else others
    orders = Making.objects.filter(finished_at__isnull=True, worker__isnull=True, queued_at__lte=now)
    chunks = JudgeChunk.objects.filter(
        finished_at__isnull=True,
        worker__isnull=True,
        queued_at__lte=now,
        run__finished_at__isnull=True,
        run__stopped_at__isnull=True,
    )
    return others.exists() or chunks.exists() or orders.exclude(agent=agent).exists()


def finish(experiment: Experiment, worker: Worker) -> bool:
    """The worker is through with all dialogues."""
    held = list_unfinished().filter(pk=experiment.pk, worker=worker)
    now = timezone.now()
    with transaction.atomic():
        if held.update(finished_at=now, worker=None, error="") != 1:
            return False
        data = {"experiment": experiment.pk, "name": experiment.name}
        subject = f"experiment {experiment.pk} {now.isoformat()}"
        webhooks.tell("experiment.finished", project=experiment.project_id, subject=subject, data=data)
    return True


def release(experiment: Experiment, worker: Worker) -> None:
    """The worker lets go of it, through no fault of the experiment."""
    held = Experiment.objects.filter(pk=experiment.pk, worker=worker)
    held.update(worker=None, attempts=F("attempts") - 1)


def postpone(experiment: Experiment, worker: Worker, *, error: str, retry_after: float | None) -> None:
    """Go on later: after the time asked for, or twice as long each time."""
    experiment.refresh_from_db(fields=["attempts"])
    wait = max(retry_after or 0.0, min(FIRST_WAIT * 2 ** (experiment.attempts - 1), LONGEST_WAIT))
    held = list_unfinished().filter(pk=experiment.pk, worker=worker)
    if held.update(worker=None, error=error, queued_at=timezone.now() + timedelta(seconds=wait)):
        logger.warning("%s waits %.0f s: %s", experiment, wait, error)
        send(experiment.pk, wait=wait)


def queue(pk: int) -> None:
    """Note that a message goes out, and send it once that is committed."""
    with transaction.atomic():
        Experiment.objects.filter(pk=pk).update(queued_at=timezone.now())
        transaction.on_commit(lambda: send(pk))


def send(pk: int, *, wait: float | None = None) -> None:
    """Tell the workers. A message that cannot be sent is sent again by `recovery`, since the row says that it waits."""
    try:
        current_app.send_task(TASK, args=[pk], countdown=wait)
    except OperationalError:
        logger.exception("The broker took no message about experiment %s.", pk)
