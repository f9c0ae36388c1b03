"""People who use the site, and raters who are known only by their labels."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """An account. Imported and simulated annotators are accounts that cannot sign in, and say so by `kind`."""

    class Kind(models.TextChoices):
        PERSON = "person", "person"
        IMPORTED = "imported", "imported annotator"
        SIMULATED = "simulated", "simulated annotator"

    kind = models.CharField(max_length=16, choices=Kind, default=Kind.PERSON)
    display_name = models.CharField(max_length=150, blank=True)
    is_researcher = models.BooleanField(default=False, help_text="May see all material, studies, judges and results.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["person", "imported", "simulated"]), name="user_kind_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(kind="person") | models.Q(is_researcher=False, is_superuser=False),
                name="only_people_are_researchers",
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def is_simulated(self) -> bool:
        return self.kind == self.Kind.SIMULATED
