"""What Celery calls: tasks, which may run twice, and the worker's signs of life."""

from __future__ import annotations

from mmap import mmap
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.db import connection

from core.jobs import heartbeat
from judging.assessment.services import assessment, deferred_agreement, refresh
from judging.evaluations.services import results
from judging.judges.models import Worker
from judging.runs.services import recovery, runs, work
from judging.runs.services.leases import EVALUATION_TASK, leases

hearts: list[heartbeat.Heartbeat] = []
leaving = mmap(-1, 1)
"""A byte that the worker's main process shares with those it forks: not 0 once it was told to end."""


@shared_task(name=leases.TASK)
def judge_chunk(chunk_id: int) -> None:
    """Work through one part of a run, if it is free."""
    work.judge_chunk(chunk_id, leaving=lambda: leaving[0] != 0)


@shared_task(name=runs.CANCEL_BATCH)
def cancel_batch(batch_id: int) -> None:
    """Take back a batch of a run that was stopped."""
    work.cancel_batch(batch_id)


@worker_shutting_down.connect
def leave(**_: object) -> None:
    """Celery waits for tasks without telling them. They put down what they have not begun to ask."""
    leaving[0] = 1


@shared_task(name=EVALUATION_TASK)
def evaluation_results(evaluation_id: int) -> None:
    """Compute what an evaluation found once its last run is over, if that is not kept already."""
    results.keep(evaluation_id)


@shared_task(name=assessment.TASK)
def assess(study_id: int, judge_id: int) -> None:
    """Calibrate and audit a judge on a study, if that is not kept already."""
    assessment.assess(study_id, judge_id)


@shared_task(name=deferred_agreement.TASK)
def agree(study_id: int, parameters: dict[str, object], by: int | None) -> None:
    """Compute agreement of a large study, if that is not kept already."""
    deferred_agreement.compute(study_id, parameters, by)


@shared_task(name=refresh.TASK)
def refresh_results(study_id: int) -> None:
    """Compute the results of a study anew, if labels or judgments have come."""
    refresh.refresh(study_id)


def sweep() -> None:
    """Look after lost work, and after results that are out of date."""
    recovery.sweep()
    refresh.send_due()


@worker_ready.connect
def begin(sender: Any, **_: object) -> None:
    """The worker's main process says that it is there, and from now on looks after lost work."""
    worker = heartbeat.register_soon(Worker, slots=sender.controller.concurrency)
    if worker._state.adding:
        connection.close()  # of no use any more
    heart = heartbeat.Heartbeat(
        worker,
        first=recovery.take_over,
        also=sweep,
        set_back=recovery.move_due_times,
        before=heartbeat.set_back_before(Worker),
    )
    hearts.append(heart)
    heart.start()


@worker_shutdown.connect
def end(**_: object) -> None:
    """An orderly end: pages see at once that the worker is gone."""
    while hearts:
        heart = hearts.pop()
        heart.end()
        if heart.worker:
            heartbeat.sign_off(heart.worker)
