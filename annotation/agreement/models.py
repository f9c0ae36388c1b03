"""Tiers that a person set against what was computed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.studies.models.studies import Criterion, Item


class TierOverride(models.Model):
    """A person's decision that an item belongs to another tier than its own kappa says. Rows are only added.

    Where the criterion is asked of turns or responses it is on one of them, `turn`. The newest one holds; one without a
    tier goes back to what is computed. `before` is the tier that held until then.
    """

    class Tier(models.TextChoices):
        EASY = "easy", _("easy")
        MEDIUM = "medium", _("medium")
        HARD = "hard", _("hard")
        CONTESTED = "contested", _("contested")

    item = models.ForeignKey(Item, models.CASCADE, related_name="tier_overrides")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="tier_overrides")
    turn = models.PositiveSmallIntegerField(default=0, help_text="The turn or response; 0 for the whole item.")
    tier = models.CharField(max_length=16, choices=Tier, blank=True, help_text="Empty: as computed again.")
    before = models.CharField(max_length=16, choices=Tier, blank=True, help_text="Empty: it had none.")
    reason = models.TextField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        constraints = [
            models.CheckConstraint(
                condition=Q(tier__in=["", "easy", "medium", "hard", "contested"])
                & Q(before__in=["", "easy", "medium", "hard", "contested"]),
                name="tier_override_is_a_tier",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="tier_override_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.item} {self.criterion}: {self.tier or 'as computed'}"
