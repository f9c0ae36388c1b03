"""What annotators say of themselves, if they want to. Kept apart from labels, and never shown beside them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.studies.models.studies import Study


class DemographicQuestion(models.Model):
    """A question about the person, with the answers offered; "prefer not to say" is always one more."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="demographic_questions")
    key = models.SlugField(max_length=60)
    text = models.CharField(max_length=200)
    options = models.JSONField(help_text="The answers offered, in their order.")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="demographic_question_once_per_study"),
            models.CheckConstraint(condition=~Q(text=""), name="demographic_question_asks_something"),
        ]

    def __str__(self) -> str:
        return self.text


class DemographicAnswer(models.Model):
    """What one person answered; empty: prefers not to say."""

    question = models.ForeignKey(DemographicQuestion, models.CASCADE, related_name="answers")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="demographic_answers")
    value = models.CharField(max_length=200, blank=True)
    answered_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "annotator"], name="demographic_answer_once_per_person"),
        ]

    def __str__(self) -> str:
        return self.value or "prefers not to say"
