"""What Celery calls: one task, which may run twice."""

from __future__ import annotations

from celery import shared_task

from annotation.services import webhooks


@shared_task(name=webhooks.TASK)
def deliver(key: int) -> None:
    """Try to hand one message over, if it is due."""
    webhooks.deliver(key)
