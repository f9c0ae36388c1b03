"""Annotators whose labels do not count in a study, for a while or for good."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.studies.models.studies import Study


class Exclusion(models.Model):
    """A person's decision that an annotator's labels do not count in a study. Ended, they count again; rows stay.

    No label is touched: everything that is computed from labels leaves them out while it lasts.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="exclusions")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator"], condition=Q(ended_at=None), name="exclusion_once_at_a_time"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_a_reason"),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None, end_reason="")
                | (Q(ended_at__isnull=False, ended_by__isnull=False) & ~Q(end_reason="")),
                name="exclusion_ends_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.study}"
