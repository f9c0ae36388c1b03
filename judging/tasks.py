"""What Celery calls: two tasks, which may run twice, and the worker's signs of life."""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown

from judging.services import chunks, recovery, work, workers
from judging.services.trust import trusting

hearts: list[workers.Heart] = []


@shared_task(name=chunks.TASK)
def judge_chunk(chunk_id: int) -> None:
    """Work through one part of a run, if it is free."""
    work.judge_chunk(chunk_id)


@shared_task(name=trusting.TASK)
def assess(study_id: int, judge_id: int) -> None:
    """Calibrate and audit a judge on a study, if that is not kept already."""
    trusting.assess(study_id, judge_id)


@worker_ready.connect
def begin(sender: Any, **_: Any) -> None:
    """The worker's main process says that it is there, and from now on looks after lost work."""
    worker = workers.register(slots=sender.controller.concurrency)
    heart = workers.Heart(worker, also=recovery.sweep)
    hearts.append(heart)
    heart.start()


@worker_shutdown.connect
def end(**_: Any) -> None:
    """An orderly end: pages see at once that the worker is gone."""
    while hearts:
        heart = hearts.pop()
        heart.end()
        workers.sign_off(heart.worker)
