"""What people said of items, and what was computed from it; and whose labels do not count."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.stats.orders import MOST
from annotation.studies.models.assignments import IS_ORDER, Assignment
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing.answers import LONGEST_VALUE


class Exclusion(models.Model):
    """A person's decision that an annotator's labels do not count in a study. Ended, they count again; rows stay.

    No label is touched: everything that is computed from labels leaves them out while it lasts.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="exclusions")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator"], condition=Q(ended_at=None), name="exclusion_once_at_a_time"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_a_reason"),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None, end_reason="")
                | (Q(ended_at__isnull=False, ended_by__isnull=False) & ~Q(end_reason="")),
                name="exclusion_ends_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.study}"


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    """Labels, and those that count."""

    def only_counting(self) -> AnnotationQuerySet:
        """Ratings handed in by annotators who are not excluded from the study: what everything is computed from.

        Answers to repeats, checks and whatever comes before the work are of another purpose and are not among them.
        """
        excluded = Exclusion.objects.filter(
            study=models.OuterRef("assignment__study"),
            annotator=models.OuterRef("assignment__annotator"),
            ended_at=None,
        )
        return self.filter(
            ~models.Exists(excluded),
            assignment__state=Assignment.State.SUBMITTED,
            assignment__purpose=Assignment.Purpose.RATING,
        )


class Annotation(models.Model):
    """One person's answer to one criterion: a value, or the reason why there is none.

    `value` is the canonical short form (see `annotation.studies.parsing.answers`); `content` holds what does not fit
    there: marked spans, a text, a rewrite. A pair's value names the response ("1", "2" or "tie"), never the side of the
    screen.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="annotations")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="annotations")
    turn = models.PositiveSmallIntegerField(
        default=0, help_text="The turn or the response that was rated, from 1; 0 for the whole item."
    )
    value = models.CharField(max_length=LONGEST_VALUE, blank=True)
    content = models.JSONField(null=True, blank=True, help_text="Of spans, texts and rewrites: what was given.")
    unscored_reason = models.CharField(max_length=200, blank=True, help_text="Why the annotator could not judge.")
    note = models.TextField(blank=True)
    strength = models.CharField(
        max_length=8,
        blank=True,
        choices=[("slightly", _("slightly better")), ("much", _("much better"))],
        help_text="Of a preference, where the study asks for it.",
    )
    evidence = models.JSONField(
        default=list,
        blank=True,
        help_text='Words that justify it: [{"part": "turn-3", "start": 0, "end": 4, "text": "Book"}, …].',
    )
    guideline_version = models.PositiveSmallIntegerField(default=1, help_text="Of the guideline that was shown.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "criterion", "turn"], name="annotation_once_per_criterion_and_turn"
            ),
            models.CheckConstraint(
                condition=(Q(value="") & ~Q(unscored_reason="")) | (~Q(value="") & Q(unscored_reason="")),
                name="annotation_scored_or_unscored",
            ),
            models.CheckConstraint(
                condition=Q(strength__in=["", "slightly", "much"]), name="annotation_strength_is_known"
            ),
            models.CheckConstraint(condition=Q(strength="") | ~Q(value=""), name="annotation_strength_of_a_value"),
        ]
        indexes = [models.Index(fields=["updated_at"], name="annotation_changed")]  # what is new since a moment

    def __str__(self) -> str:
        return self.value or f"unscored: {self.unscored_reason}"


class Draft(models.Model):
    """What one person has entered on the page of one slot and not, or too late, handed in. Never read as a label.

    A draft is kept as the page has it: names of inputs to what is in them, a pair's sides as they were shown. One that
    arrived when the slot was gone is late: a researcher uses or dismisses it.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        LATE = "late", _("late")
        USED = "used", _("used")
        DISMISSED = "dismissed", _("dismissed")

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="drafts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="drafts")
    state = models.CharField(max_length=16, choices=State, default=State.DRAFT)
    content = models.JSONField(default=dict, help_text="Name of the input -> what is in it.")
    active_seconds = models.FloatField(default=0, help_text="Time spent on it so far, without idle time.")
    saved_at = models.DateTimeField()
    order = models.CharField(
        max_length=MOST,
        blank=True,
        default="",
        help_text="In which the responses were shown to them: the slot may have gone to somebody who sees another.",
    )
    late_reason = models.CharField(max_length=200, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "annotator"], name="draft_once_per_person"),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "late"], decided_by__isnull=True, decided_at__isnull=True)
                | Q(state__in=["used", "dismissed"], decided_by__isnull=False, decided_at__isnull=False),
                name="draft_decided_when_used_or_dismissed",
            ),
            models.CheckConstraint(condition=IS_ORDER, name="draft_order_is_known"),
            models.CheckConstraint(
                condition=Q(state="draft", late_reason="") | (~Q(state="draft") & ~Q(late_reason="")),
                name="draft_late_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_state_display()} of {self.annotator} on {self.assignment}"


class Adjudication(models.Model):
    """A person's decision on a disputed item. Rows are only added; the newest one holds.

    `basis` is what it was made from: the answers that were there, by value, and how many people could not judge.
    """

    class Method(models.TextChoices):
        ADJUDICATED = "adjudicated", _("decided on people's answers")
        STATED = "stated", _("stated without people's answers")

    item = models.ForeignKey(Item, models.CASCADE, related_name="adjudications")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="adjudications")
    turn = models.PositiveSmallIntegerField(default=0, help_text="The turn decided on, from 1; 0 for the whole item.")
    value = models.CharField(max_length=LONGEST_VALUE)
    reason = models.TextField(blank=True)
    method = models.CharField(max_length=16, choices=Method, default=Method.ADJUDICATED)
    basis = models.JSONField(default=dict, blank=True)
    guideline_version = models.PositiveSmallIntegerField(default=1)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        constraints = [
            models.CheckConstraint(condition=~Q(value=""), name="adjudication_has_a_value"),
            models.CheckConstraint(
                condition=Q(method__in=["adjudicated", "stated"]), name="adjudication_method_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} {self.criterion}: {self.value}"


class AgreementRun(models.Model):
    """One computation of agreement: its parameters, a hash of its input, and its result. Never changed afterwards."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="agreement_runs")
    parameters = models.JSONField(help_text="Bootstrap replicates, confidence, criteria, judges.")
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of the labels and judgments it was computed from.")
    code_version = models.CharField(max_length=64)
    result = models.JSONField()
    identity = models.CharField(  # noqa: DJ001 - of results made before there was one, nothing is known
        max_length=64,
        unique=True,
        null=True,
        help_text="Hash of study, parameters, seed, input and code: the same is computed and kept once.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        indexes = [models.Index(fields=["study", "input_hash"])]

    def __str__(self) -> str:
        return f"{self.study} {self.created_at:%Y-%m-%d %H:%M}"
