"""The part of a study that is kept from the development of judges."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.studies.models.studies import Study


class HoldOut(models.Model):
    """A part of a study's items that is kept from the development of judges. Whole clusters are on one side."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="hold_out")
    share = models.FloatField(help_text="Of the clusters (profiles, questions, dialogues) that are held out.")
    seed = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(share__gt=0, share__lt=1), name="hold_out_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"{self.share:.0%} of {self.study}"
