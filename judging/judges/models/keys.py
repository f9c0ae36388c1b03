"""Keys of models, sealed: what a project's judges and agents show to the servers that they ask."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.accounts.models.projects import InProject


class ModelKey(InProject):
    """A project's key for one address. It is sent there and nowhere else, and never shown again."""

    origin = models.CharField(max_length=200, help_text="Scheme, host and port, such as https://api.openai.com.")
    sealed = models.TextField(help_text="See judging/judges/sealing.py.")
    note = models.CharField(max_length=200, blank=True, help_text="Who pays, for example.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["project", "origin"]
        constraints = [
            models.UniqueConstraint(fields=["project", "origin"], name="model_key_one_per_address"),
            models.CheckConstraint(condition=~Q(origin="") & ~Q(sealed=""), name="model_key_is_whole"),
        ]

    def __str__(self) -> str:
        return f"key for {self.origin}"

    @property
    def name(self) -> str:
        """What the log of acts calls it."""
        return self.origin

    @property
    def belongs(self) -> str:
        """What the sealed text says that it is of."""
        return f"{self.project_id} {self.origin}"
