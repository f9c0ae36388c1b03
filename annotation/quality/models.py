"""Items whose answer is known, who passed with them, and the rules by which a study's queue mixes them in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy as _

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing.answers import LONGEST_VALUE


class KnownItem(models.Model):
    """An item that annotators of a study are given to see how they rate, or to learn it; not to have it rated.

    Its item may belong to another study. Retired, it is handed out no more, and answers to it count no more.
    """

    class Purpose(models.TextChoices):
        CHECK = Assignment.Purpose.CHECK.value, _("checks")
        TRAINING = Assignment.Purpose.TRAINING.value, _("training")
        QUALIFICATION = Assignment.Purpose.QUALIFICATION.value, _("qualification")

    study = models.ForeignKey(Study, models.CASCADE, related_name="known_items")
    item = models.ForeignKey(Item, models.RESTRICT, related_name="known_as")
    purpose = models.CharField(max_length=16, choices=Purpose)
    position = models.PositiveIntegerField(help_text="Place among the study's known items, from 1.")
    round = models.PositiveSmallIntegerField(
        default=1,
        help_text="Of the qualification: the round from which on it is asked, until another has its own items.",
    )
    origin = models.CharField(max_length=200, help_text="Where the answers are from.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "position"], name="known_item_position_once_per_study"),
            models.UniqueConstraint(
                fields=["study", "item", "purpose"], condition=Q(retired_at=None), name="known_item_once_per_purpose"
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["check", "training", "qualification"]), name="known_item_purpose_is_known"
            ),
            models.CheckConstraint(
                condition=Q(round=1) | Q(round__gt=1, purpose="qualification"),
                name="known_item_rounds_are_of_the_qualification",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item.external_id} ({self.get_purpose_display()})"


class KnownAnswer(models.Model):
    """The right answer to one criterion of such an item, or of one turn or response, and why it is right."""

    known = models.ForeignKey(KnownItem, models.CASCADE, related_name="answers")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="+")
    turn = models.PositiveIntegerField(default=0, help_text="Number of the turn, from 1; 0 for the whole item.")
    value = models.CharField(max_length=LONGEST_VALUE)
    also = models.JSONField(default=list, blank=True, help_text="Further values that are right as well.")
    explanation = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["known", "criterion", "turn"], name="known_answer_once_per_criterion"),
            models.CheckConstraint(condition=~Q(value=""), name="known_answer_has_a_value"),
        ]

    def __str__(self) -> str:
        return self.value

    @property
    def title(self) -> str:
        """What it is the answer to."""
        name = self.criterion.name
        if not self.turn:
            return name
        return gettext("{name}, {noun} {turn}").format(
            name=name, noun=gettext(self.criterion.part_noun), turn=self.turn
        )

    @property
    def label(self) -> str:
        """The right answer, or answers, in the words of the scale."""
        return gettext(" or ").join(self.criterion.label_of(one) for one in (self.value, *self.also))

    def accepts(self, value: str) -> bool:
        return value == self.value or value in self.also


class Admission(models.Model):
    """How somebody came through training and qualification. Rows are only added; the newest one holds.

    Without `decided_by` it is the result of a round; with it, a person's decision: to let somebody through, or to let
    them try once more, which opens the round of that number.
    """

    class Outcome(models.TextChoices):
        PASSED = "passed", _("passed")
        FAILED = "failed", _("did not pass")
        ADMITTED = "admitted", _("let through")
        AGAIN = "again", _("may try again")

    study = models.ForeignKey(Study, models.CASCADE, related_name="admissions")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="admissions")
    outcome = models.CharField(max_length=16, choices=Outcome)
    round = models.PositiveSmallIntegerField(default=1, help_text="Which try of theirs, from 1.")
    asked = models.PositiveIntegerField(default=0, help_text="Known answers of the round.")
    right = models.PositiveIntegerField(default=0, help_text="Answers that were right.")
    pass_mark = models.FloatField(help_text="Share of right answers that was asked for.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "round"],
                condition=Q(decided_by=None),
                name="admission_one_result_per_round",
            ),
            models.UniqueConstraint(
                fields=["study", "annotator", "round"], condition=Q(outcome="again"), name="admission_round_opened_once"
            ),
            models.CheckConstraint(
                condition=Q(round__gte=1) & (~Q(outcome="again") | Q(round__gt=1)), name="admission_rounds_from_one"
            ),
            models.CheckConstraint(
                condition=Q(outcome__in=["passed", "failed"], decided_by__isnull=True)
                | (Q(outcome__in=["admitted", "again"], decided_by__isnull=False) & ~Q(reason="")),
                name="admission_by_result_or_by_a_person_with_a_reason",
            ),
            models.CheckConstraint(condition=Q(right__lte=models.F("asked")), name="admission_right_of_asked"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} {self.get_outcome_display()}"

    @property
    def lets_through(self) -> bool:
        return self.outcome in (self.Outcome.PASSED, self.Outcome.ADMITTED)


class QueueRules(models.Model):
    """The rules of a study's queue from some moment on. Rows are only added; the study holds the newest."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="queue_rules")
    rules = models.JSONField(help_text="check_every, repeat_every, repeat_after, item_limit, pass_mark.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = ["created_at", "pk"]
        verbose_name_plural = "queue rules"

    def __str__(self) -> str:
        return f"{self.study} {self.created_at:%Y-%m-%d %H:%M}"
