"""What a table of processes and a table of work share: abstract, so that each table stays in its app."""

from __future__ import annotations

from django.db import models


class AbstractWorker(models.Model):
    """A Celery worker, or a process that holds a part of a run. It reports itself every few seconds while it lives.

    A worker's child reports for itself, so that a child killed alone is noticed although its parent lives.
    """

    name = models.CharField(max_length=200, unique=True, help_text="Host, process id and a random part.")
    slots = models.PositiveSmallIntegerField(
        default=1, help_text="How many parts it takes from the queue at a time; 0 for a process that takes none."
    )
    machine = models.CharField(
        max_length=100, blank=True, help_text="Boot and namespaces in which `pid` means a process. Empty: not known."
    )
    pid = models.PositiveBigIntegerField(default=0)
    started = models.PositiveBigIntegerField(default=0, help_text="When the process did, in ticks of its machine.")
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["seen_at"])]

    def __str__(self) -> str:
        return self.name


class LeasedRow(models.Model):
    """Work that one process at a time holds: by its foreign key `worker`, for as long as that process is alive."""

    queued_at = models.DateTimeField(null=True, blank=True, help_text="When a message was last sent for it.")
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    worker_id: int | None

    class Meta:
        abstract = True
