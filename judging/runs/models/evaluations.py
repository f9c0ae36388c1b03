"""Models evaluated on a benchmark: which cases, what was found, and what people say of wrong answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.benchmarks.models import Benchmark
from annotation.studies.models.studies import Study


class Evaluation(models.Model):
    """Some cases of a benchmark, answered by judges in several settings. Each judge and setting is a run of its own."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="evaluations")
    number = models.PositiveIntegerField(help_text="From 1, within the benchmark.")
    study = models.OneToOneField(
        Study, models.PROTECT, related_name="evaluation", help_text="Holds the cases' pairs as items."
    )
    drawn = models.JSONField(default=dict, blank=True, help_text="How the cases were chosen: size, seed, filters.")
    input_hash = models.CharField(max_length=64, help_text="Of the pairs, in order.")
    code_version = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        constraints = [models.UniqueConstraint(fields=["benchmark", "number"], name="evaluation_number_once")]

    def __str__(self) -> str:
        return f"Evaluation {self.number} of {self.benchmark}"


class EvaluationResult(models.Model):
    """One computation of all figures of an evaluation: parameters, seed, a hash of its input, and its result."""

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="results")
    parameters = models.JSONField()
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of cases, gold answers and judgments.")
    code_version = models.CharField(max_length=64)
    result = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        indexes = [models.Index(fields=["evaluation", "input_hash"])]

    def __str__(self) -> str:
        return f"{self.evaluation} {self.created_at:%Y-%m-%d %H:%M}"


class FailureTag(models.Model):
    """What a person sees in a wrong answer. An answer may carry several; each says who put it there."""

    class Tag(models.TextChoices):
        OVER_PERSONALIZED = "over_personalized", _("over-personalized")
        GENERIC = "generic", _("generic")
        MISREAD = "misread", _("misread persona")
        DISTRACTED = "distracted", _("distracted")
        HELPFULNESS = "helpfulness", _("helpfulness trade-off")
        SEVERAL = "several", _("several valid answers")

    judgment = models.ForeignKey("judging.Judgment", models.CASCADE, related_name="failure_tags")
    tag = models.CharField(max_length=20, choices=Tag)
    tagged_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="failure_tags")
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["judgment", "tag", "tagged_by"], name="failure_tag_once_per_person"),
            models.CheckConstraint(
                condition=models.Q(
                    tag__in=["over_personalized", "generic", "misread", "distracted", "helpfulness", "several"]
                ),
                name="failure_tag_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judgment_id}: {self.tag}"
