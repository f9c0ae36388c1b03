"""A judge: a provider, a model and its parameters. A change makes a new version."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.accounts.models.projects import InProject

IMPORTED = "imported"
PANEL = "panel"
RECALIBRATED = "recalibrated"
NOT_RUN_HERE = (IMPORTED, PANEL, RECALIBRATED)
"""What stands for a provider where the judgments were made elsewhere, or from those of other judges."""

IN_TURN = ("local",)
"""Providers whose judges all work on this machine, so that their calls in flight are counted together."""

SHOWN_APART = ("examples", "templates", "chances")
"""Parameters too long for a table of settings."""

NO_MODELS = ("baseline", "scripted", "simulated")
"""Providers whose judges are no models."""


class Judge(InProject):
    """A model that rates items. Its judgments may also have been made elsewhere (`provider` imported)."""

    name = models.CharField(max_length=120)
    version = models.PositiveSmallIntegerField(default=1)
    provider = models.CharField(max_length=40, help_text="A key of judging.judges.providers.REGISTRY, or imported.")
    model = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    daily_budget_usd = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="What all versions together may cost in a day (UTC). The latest version's holds; it is no part of "
        "what a judge is.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="judge_version_once"),
            models.CheckConstraint(
                condition=Q(daily_budget_usd__isnull=True) | Q(daily_budget_usd__gt=0),
                name="judge_daily_budget",
            ),
        ]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} v{self.version}"

    @property
    def is_baseline(self) -> bool:
        return self.provider == "baseline"

    @property
    def kind(self) -> str:
        """What to call it wherever it appears: judge, or baseline, scripted or simulated judge where it is no model."""
        if self.provider == PANEL:
            return "panel of judges"
        return f"{self.provider} judge" if self.provider in NO_MODELS else "judge"

    @property
    def is_runnable(self) -> bool:
        """Whether it can be asked here, as opposed to one whose judgments come from elsewhere."""
        return self.provider not in NOT_RUN_HERE

    @property
    def settings(self) -> dict[str, str]:
        """The parameters in words. Of its examples, which items they are."""
        plain = {name: value for name, value in self.parameters.items() if name not in SHOWN_APART}
        own = {f"template of {key}": text for key, text in self.parameters.get("templates", {}).items()}
        return {name: str(value) for name, value in (plain | own).items()} | self._examples

    @property
    def _examples(self) -> dict[str, str]:
        shown = [f"item {one['item']} of {one['study']} on {one['criterion']}" for one in self.examples]
        return {"examples": "; ".join(shown)} if shown else {}

    @property
    def examples(self) -> list[dict[str, Any]]:
        """Settled items that stand in its prompt; see `judging.judges.providers.base.Example`."""
        found: list[dict[str, Any]] = self.parameters.get("examples", [])
        return found
