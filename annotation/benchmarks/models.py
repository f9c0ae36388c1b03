"""Benchmarks of binary choices: which pairs belong to a version, what people chose, and how each case came to stay."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Criterion, Item, Study
from core.accounts.models.projects import InProject
from core.errors import InputError


class ReleasedError(InputError):
    """A released benchmark was about to be changed."""


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    """Benchmarks; released ones refuse to be changed or deleted, here as in `Benchmark.save`."""

    def update(self, **values: object) -> int:
        refuse_if(self.filter(state=Benchmark.State.RELEASED))
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        refuse_if(self.filter(state=Benchmark.State.RELEASED))
        return super().delete()


class Benchmark(InProject):
    """One version of a set of cases. A draft may change; a released one never does: a correction is a new version."""

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        RELEASED = "released", _("released")

    name = models.CharField(max_length=120)
    version = models.CharField(max_length=40)
    slug = models.SlugField(max_length=170, unique=True)
    notes = models.TextField(blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.DRAFT)
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="children")
    study = models.ForeignKey(
        Study, models.PROTECT, null=True, blank=True, related_name="benchmarks", help_text="Whose votes made the gold."
    )
    made = models.JSONField(default=dict, blank=True, help_text="How: rule, parameters, seed, counts, known issues.")
    input_hash = models.CharField(max_length=64, blank=True, help_text="Of the votes or files it was made from.")
    code_version = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    released_at = models.DateTimeField(null=True, blank=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name", "created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="benchmark_version_once"),
            models.CheckConstraint(
                condition=Q(state="draft", released_at=None) | Q(state="released", released_at__isnull=False),
                name="benchmark_released_at_only_when_released",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def save(self, *args: object, **kwargs: Any) -> None:
        """Save, but refuse to change a row that is released in the database: what is cited must stay as it was."""
        if self.pk:
            refuse_if(Benchmark.objects.filter(pk=self.pk, state=self.State.RELEASED))
        super().save(*args, **kwargs)

    def delete(self, using: str | None = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        refuse_if(Benchmark.objects.filter(pk=self.pk, state=self.State.RELEASED))
        return super().delete(using, keep_parents)

    @property
    def is_released(self) -> bool:
        return self.state == self.State.RELEASED

    @property
    def simulated_annotators(self) -> int:
        """How many of those who voted are programs; 0 where nobody knows who voted."""
        return int(self.made.get("annotators", {}).get("simulated", 0))


class BenchmarkCaseQuerySet(models.QuerySet["BenchmarkCase"]):
    """Cases, and those that a model is scored on."""

    def only_counting(self) -> BenchmarkCaseQuerySet:
        """Return those that are not excluded: these have a gold answer."""
        return self.filter(excluded_reason="")

    def update(self, **values: object) -> int:
        refuse_if(Benchmark.objects.filter(cases__in=self, state=Benchmark.State.RELEASED))
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        refuse_if(Benchmark.objects.filter(cases__in=self, state=Benchmark.State.RELEASED))
        return super().delete()


class BenchmarkCase(models.Model):
    """A pair in one version of a benchmark, with what people chose.

    `gold` names the response, "1" or "2", as votes do; a case without gold is excluded with its reason. Votes are
    null where they are not known (PersonaFeedback publishes none), and so is kappa. `history` holds what happened to
    the case before: filter rounds, revisions, cleaning, oldest first.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="cases")
    pair = models.ForeignKey(ResponsePair, models.PROTECT, related_name="cases")
    kind = models.CharField(max_length=40, blank=True, help_text="general, specific, …")
    tier = models.CharField(
        max_length=16, blank=True, choices=[(tier, tier) for tier in ("easy", "medium", "hard", "contested")]
    )
    gold = models.CharField(max_length=4, blank=True, choices=[("1", _("response 1")), ("2", _("response 2"))])
    votes_1 = models.PositiveSmallIntegerField(null=True, blank=True)
    votes_2 = models.PositiveSmallIntegerField(null=True, blank=True)
    votes_tie = models.PositiveSmallIntegerField(null=True, blank=True)
    kappa = models.FloatField(null=True, blank=True, help_text="Of its votes, as its tier is made.")
    split = models.CharField(max_length=16, blank=True)
    excluded_reason = models.TextField(blank=True, help_text="Empty: models are scored on it.")
    history = models.JSONField(default=list, blank=True)
    content_hash = models.CharField(max_length=64, help_text="Of the pair when the case was made.")

    objects = BenchmarkCaseQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "pair"], name="pair_once_per_benchmark"),
            models.CheckConstraint(
                condition=Q(tier__in=["", "easy", "medium", "hard", "contested"]), name="case_tier_is_known"
            ),
            models.CheckConstraint(
                condition=Q(gold__in=["1", "2"]) | (Q(gold="") & ~Q(excluded_reason="")),
                name="case_without_gold_is_excluded",
            ),
            models.CheckConstraint(
                condition=Q(votes_1=None, votes_2=None, votes_tie=None)
                | Q(votes_1__isnull=False, votes_2__isnull=False, votes_tie__isnull=False),
                name="case_votes_known_or_not",
            ),
        ]
        indexes = [models.Index(fields=["benchmark", "kind", "tier"], name="case_kind_tier")]

    def __str__(self) -> str:
        return f"{self.benchmark}: {self.pair}"

    def save(self, *args: object, **kwargs: Any) -> None:
        refuse_if(Benchmark.objects.filter(pk=self.benchmark_id, state=Benchmark.State.RELEASED))
        super().save(*args, **kwargs)

    @property
    def chosen(self) -> str:
        """The text that people chose; empty without gold."""
        return {"1": self.pair.response_1, "2": self.pair.response_2}.get(self.gold, "")

    @property
    def rejected(self) -> str:
        """The text that people did not choose; empty without gold."""
        return {"1": self.pair.response_2, "2": self.pair.response_1}.get(self.gold, "")


class BenchmarkAudit(models.Model):
    """One audit of a benchmark: its parameters, a hash of what it looked at, and its result. Never changed."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="audits")
    parameters = models.JSONField(help_text="Bootstrap resamples.")
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of the cases and personas it was computed from.")
    code_version = models.CharField(max_length=64)
    result = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.created_at:%Y-%m-%d %H:%M}"


class FilterRound(models.Model):
    """One decision on the items of a study of pairs by a stated rule. Never changed: the next round is a new row."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="filter_rounds")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="filter_rounds")
    number = models.PositiveSmallIntegerField(help_text="From 1, within the study.")
    rule = models.JSONField(help_text="What becomes of each tier and of ties, cuts and chance.")
    seed = models.PositiveBigIntegerField(default=0)
    follow_up = models.ForeignKey(
        Study, models.PROTECT, null=True, blank=True, related_name="follows", help_text="Where it was asked again."
    )
    input_hash = models.CharField(max_length=64, help_text="Of the votes it was made from.")
    code_version = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="filter_round_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="filter_round_number_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.study}, round {self.number}"


class FilterOutcome(models.Model):
    """What a round did with one item, and the votes that it saw."""

    class Outcome(models.TextChoices):
        KEPT = "kept", _("kept")
        DROPPED = "dropped", _("dropped")
        ASKED_AGAIN = "asked again", _("asked again")
        REVISED = "revised", _("revised")

    round = models.ForeignKey(FilterRound, models.CASCADE, related_name="outcomes")
    item = models.ForeignKey(Item, models.CASCADE, related_name="filter_outcomes")
    outcome = models.CharField(max_length=16, choices=Outcome)
    reason = models.TextField()
    tier = models.CharField(max_length=16, blank=True)
    kappa = models.FloatField(null=True, blank=True)
    votes_1 = models.PositiveSmallIntegerField(default=0)
    votes_2 = models.PositiveSmallIntegerField(default=0)
    votes_tie = models.PositiveSmallIntegerField(default=0)
    revised_pair = models.ForeignKey(
        ResponsePair, models.PROTECT, null=True, blank=True, related_name="revision_of", help_text="The new text."
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["round", "item__position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "item"], name="filter_outcome_once_per_item"),
            models.CheckConstraint(
                condition=Q(outcome__in=["kept", "dropped", "asked again", "revised"]), name="filter_outcome_is_known"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="filter_outcome_has_a_reason"),
            models.CheckConstraint(
                condition=Q(outcome="revised", revised_pair__isnull=False)
                | (~Q(outcome="revised") & Q(revised_pair=None)),
                name="filter_outcome_revised_has_its_pair",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}: {self.outcome}"


def refuse_if(released: models.QuerySet[Benchmark]) -> None:
    """Raise ReleasedError if there is such a benchmark."""
    one = released.first()
    if one is not None:
        raise ReleasedError("{one} is released and does not change; make a new version of it", one=one)
