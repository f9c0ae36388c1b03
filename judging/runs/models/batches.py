"""Requests handed in to a provider in bulk."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q

from judging.runs.models.runs import JudgeChunk


def new_token() -> str:
    return secrets.token_hex(8)


class JudgeBatch(models.Model):
    """A part's open requests in one batch. The row is there before the provider hears of it.

    Without an `external_id` nobody knows yet whether the provider has it: a process may have been killed just then.
    """

    chunk = models.ForeignKey(JudgeChunk, models.CASCADE, related_name="batches")
    token = models.CharField(
        max_length=32, unique=True, default=new_token, help_text="Begins the keys of its requests, so that it is known."
    )
    external_id = models.CharField(max_length=200, blank=True, help_text="What the provider calls it.")
    n_requests = models.PositiveIntegerField()
    reserved_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="The most that it may cost. Empty: unknown."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    looked_at = models.DateTimeField(null=True, blank=True, help_text="When the provider was last asked about it.")
    n_done = models.PositiveIntegerField(default=0, help_text="Answered by then, as the provider said.")
    cancelled_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True, help_text="When its replies were kept, or it was given up.")
    error = models.TextField(blank=True, help_text="Why it was given up.")

    class Meta:
        verbose_name_plural = "judge batches"
        constraints = [
            models.UniqueConstraint(
                fields=["chunk"], condition=Q(closed_at__isnull=True), name="batch_one_open_a_part"
            ),
            models.UniqueConstraint(fields=["external_id"], condition=~Q(external_id=""), name="batch_known_once"),
        ]

    def __str__(self) -> str:
        return self.external_id or f"batch {self.token}"
