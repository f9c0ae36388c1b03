"""Who speaks: a model with its parameters, as user agent or as assistant under test."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Agent(models.Model):
    """A speaker and its parameters. It never changes: other parameters are another agent."""

    provider = models.CharField(max_length=40, help_text="A key of simulation.agents.speakers.REGISTRY.")
    model = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    settings_hash = models.CharField(max_length=64, unique=True, help_text="Of provider, model and parameters.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["provider", "model", "pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """What tables call it: the model, or where it has none the provider."""
        return self.model or self.provider

    @property
    def is_scripted(self) -> bool:
        return self.provider == "scripted"
