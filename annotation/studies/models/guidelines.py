"""What a criterion asked, and how it was to be judged, at each time."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.studies.models.studies import Criterion


class GuidelineVersion(models.Model):
    """One version of a criterion: its question, its guideline, its categories and the rest of what is asked. Never
    changed.

    The newest is also on the criterion. The first has a row once there is a second: until then nothing was edited.
    """

    criterion = models.ForeignKey(Criterion, models.CASCADE, related_name="guideline_versions")
    version = models.PositiveSmallIntegerField()
    question = models.TextField()
    guideline = models.TextField(blank=True)
    categories = models.JSONField(blank=True, help_text="As on the criterion.")
    rest = models.JSONField(
        default=dict, blank=True, help_text="Its name, help, examples, limits, condition and whether it is required."
    )
    reason = models.TextField(blank=True, help_text="Why it was edited; empty for what the study was made with.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "version"], name="guideline_version_once_per_criterion"),
            models.CheckConstraint(condition=Q(version__gte=1), name="guideline_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion} version {self.version}"
