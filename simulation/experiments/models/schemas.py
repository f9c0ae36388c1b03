"""What preferences a profile may have: the types of every domain with their possible values."""

from __future__ import annotations

from django.db import models


class PreferenceType(models.Model):
    """A kind of preference in a domain. Possible values are all there are, or, if not categorical, examples."""

    source = models.CharField(max_length=40, help_text="Whose profiles it is about.")
    domain = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    is_categorical = models.BooleanField(default=True)
    has_multiple_values = models.BooleanField(default=False)
    possible_values = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["domain", "name"]
        constraints = [
            models.UniqueConstraint(fields=["source", "domain", "name"], name="preference_type_once_per_source"),
        ]

    def __str__(self) -> str:
        return f"{self.domain}: {self.name}"
