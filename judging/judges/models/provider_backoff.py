"""When a provider wants to be left alone."""

from __future__ import annotations

from django.db import models


class Pause(models.Model):
    """Until when nobody asks a model, because one of its replies said so. All processes keep to it."""

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="pause_once_per_model")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} until {self.until:%H:%M:%S}"
