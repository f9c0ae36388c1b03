"""A judge: a provider, a model and parameters; a change makes a new version. Its keys, limits and held-out parts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_noop

from annotation.studies.models.studies import Study
from core.accounts.models.projects import InProject
from core.jobs.models import AbstractWorker
from judging.judges.providers import REGISTRY

IMPORTED = "imported"
PANEL = "panel"
RECALIBRATED = "recalibrated"
NOT_RUN_HERE = (IMPORTED, PANEL, RECALIBRATED)
"""What stands for a provider where the judgments were made elsewhere, or from those of other judges."""

IN_TURN = ("local",)
"""Providers whose judges all work on this machine, so that their calls in flight are counted together."""

SHOWN_APART = ("examples", "templates", "chances")
"""Parameters too long for a table of settings."""

KINDS = [gettext_noop("baseline judge"), gettext_noop("scripted judge"), gettext_noop("simulated judge")]
"""What `Judge.kind` says of a judge that is no model, for the translators of pages."""

NO_MODELS = tuple(name for name, one in REGISTRY.items() if one.no_model)
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
    def no_model(self) -> str:
        """Where its verdicts come from if it is no model; empty if it is one."""
        return REGISTRY[self.provider].no_model if self.provider in NO_MODELS else ""

    @property
    def kind(self) -> str:
        """What to call it wherever it appears: judge, or baseline, scripted or simulated judge where it is no model."""
        if self.provider == PANEL:
            return gettext_noop("panel of judges")
        return f"{self.provider} judge" if self.no_model else "judge"

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
        names = [f"{one['item']}.{one['turn']}" if "turn" in one else str(one["item"]) for one in self.examples]
        pairs = zip(names, self.examples, strict=True)
        shown = [f"item {name} of {one['study']} on {one['criterion']}" for name, one in pairs]
        return {"examples": "; ".join(shown)} if shown else {}

    @property
    def examples(self) -> list[dict[str, object]]:
        """Settled items that stand in its prompt; see `judging.judges.providers.base.Example`."""
        found: list[dict[str, object]] = self.parameters.get("examples", [])
        return found


class Worker(AbstractWorker):
    """A process that works on runs, experiments or material."""


class HoldOut(models.Model):
    """A part of a study's items that is kept from the development of judges. Whole clusters are on one side."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="hold_out")
    share = models.FloatField(help_text="Of the clusters (profiles, questions, dialogues) that are held out.")
    seed = models.PositiveBigIntegerField(default=0)
    settled = models.JSONField(
        default=dict,
        blank=True,
        help_text="Cluster -> whether it is held out, of those that were drawn by the number of a row.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(share__gt=0, share__lt=1), name="hold_out_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} % of {self.study}"


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
        """What the audit log calls it."""
        return self.origin

    @property
    def belongs(self) -> str:
        """What the sealed text says that it is of."""
        return f"{self.project_id} {self.origin}"


class Price(models.Model):
    """What a model costs from a day on, in US dollars per million tokens, as a person entered it.

    A later row replaces an earlier one from its day on; both replace what judging/judges/prices.toml says of that day.
    """

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    valid_from = models.DateField()
    input = models.DecimalField(max_digits=12, decimal_places=4)
    output = models.DecimalField(max_digits=12, decimal_places=4)
    cache_read = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    cache_write = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    batch_input = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    batch_output = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    note = models.CharField(max_length=200, blank=True, help_text="Where the price is published.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["provider", "model", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "model", "valid_from"], name="price_once_per_day"),
            models.CheckConstraint(condition=Q(input__gte=0, output__gte=0), name="price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} from {self.valid_from:%Y-%m-%d}"


class Quota(models.Model):
    """How fast a model may be asked, by all judges and all workers together, and how far that is used up.

    `requests_at` and `tokens_at` are the moments (seconds since 1970) from which the next request is free.
    """

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    requests_at = models.FloatField(default=0)
    tokens_at = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "model"], name="quota_once_per_model"),
            models.CheckConstraint(
                condition=(Q(requests_per_minute__isnull=True) | Q(requests_per_minute__gt=0))
                & (Q(tokens_per_minute__isnull=True) | Q(tokens_per_minute__gt=0)),
                name="quota_above_0",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class Seat(models.Model):
    """How many calls of a judge a process may have in flight. The seats of a process that is gone are free."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="seats")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="seats")
    n = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "judge"], name="seats_once_per_worker")]

    def __str__(self) -> str:
        return f"{self.n} of {self.judge}"


class Pause(models.Model):
    """Until when nobody asks a model, because one of its replies said so. All processes keep to it."""

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="pause_once_per_model")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} until {self.until:%H:%M:%S}"


class CachedReply(models.Model):
    """A reply, under the hash of all that its request was made of. Written once."""

    key = models.CharField(max_length=64, unique=True)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    reply = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "cached replies"

    def __str__(self) -> str:
        return self.key[:12]
