"""By which rules the judges of a study are held to people. Rows are only added, which the database sees to."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from annotation.studies.models.studies import Study
from core.hashing import content_hash


class VerdictRules(models.Model):
    """The rules of a study's verdicts and its criterion of success, from some moment on. The newest row holds.

    Rows from before the first look at a judge's result are free. The first look adds a row that locks the newest
    rules, or the usual ones. Each row after it is a change with a reason.
    """

    class Kind(models.TextChoices):
        SET = "set", _("set before the first look")
        LOCKED = "locked", _("locked at the first look")
        CHANGED = "changed", _("changed after the first look")

    study = models.ForeignKey(Study, models.DO_NOTHING, related_name="verdict_rules")
    number = models.PositiveIntegerField(help_text="Within the study, from 1.")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    rules = models.JSONField(help_text="See judging/stats/verdict.py.")
    success = models.JSONField(help_text="The decision that counts as a success, and on which criteria.")
    reason = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, help_text="Over all of the row that was decided, and the hash before it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        verbose_name_plural = "verdict rules"
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="verdict_rules_one_after_another"),
            models.UniqueConstraint(fields=["study"], condition=Q(kind="locked"), name="verdict_rules_are_locked_once"),
            models.CheckConstraint(
                condition=~Q(kind="changed") | ~Q(reason=""), name="verdict_rules_change_for_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"rules {self.number} of {self.study}"

    def save(self, *args: object, **kwargs: Any) -> None:
        """Add the row. What was decided is never changed."""
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)

    def compute_hash(self, previous: str) -> str:
        """The hash over what was decided, behind a row with the hash `previous` (none: empty)."""
        return content_hash([previous, self.number, self.kind, self.rules, self.success, self.reason])


@receiver(post_delete, sender=Study)
def delete_rules(instance: Study, **_: object) -> None:
    """Behind their study: the database refuses it as long as that is there (row_triggers)."""
    VerdictRules.objects.filter(study_id=instance.pk).delete()
