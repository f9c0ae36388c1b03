"""What Celery calls: tasks, which may run twice."""

from __future__ import annotations

from collections.abc import Sequence

from celery import shared_task

from annotation.agreement.services import stored_difficulty
from annotation.studies.services import webhooks
from annotation.workbench.services import overlap


@shared_task(name=webhooks.TASK)
def deliver(key: int) -> None:
    """Try to hand one message over, if it is due."""
    webhooks.deliver(key)


@shared_task(name=stored_difficulty.TASK)
def fit_difficulty(study_id: int, cuts: Sequence[float], reader: str) -> None:
    """Fit the difficulty model of a study's criteria, if that is not kept already."""
    stored_difficulty.compute(study_id, cuts, reader)


@shared_task(name=overlap.TASK)
def run_overlap_rounds(study_id: int) -> None:
    """Ask once more about items of an adaptive study whose tier is unclear, if a round is due."""
    overlap.run_rounds(study_id)
