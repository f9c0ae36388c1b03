"""How people come into a study and leave it; and what annotators say of themselves, if they want to.

What they say of themselves is kept apart from labels, and never shown beside them.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.studies.models.studies import Study


class ConsentText(models.Model):
    """One version of what people agree to before they see an item of a study. Never changed; known by its hash."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="consent_texts")
    text = models.TextField()
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the text, in hexadecimal.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "content_hash"], name="consent_text_once_per_study"),
            models.CheckConstraint(condition=~Q(text=""), name="consent_text_is_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.content_hash[:12]}"


class Intake(models.Model):
    """How people come into a study: what they agree to, whether anybody may join, and what they take home at the end.

    A study without one takes in whom a researcher adds or invites, and asks nothing.
    """

    study = models.OneToOneField(Study, models.CASCADE, related_name="intake")
    is_public = models.BooleanField(default=False, help_text="Anybody may join by the study's public address.")
    consent_text = models.ForeignKey(ConsentText, models.RESTRICT, null=True, blank=True, related_name="+")
    completion_code = models.CharField(
        max_length=80, blank=True, help_text="The same for everybody; empty: each person of a platform gets their own."
    )
    completion_url = models.URLField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"intake of {self.study}"


class Invitation(models.Model):
    """A link into a study. Only a hash of its token is kept, so that nobody can read the link from here."""

    class Platform(models.TextChoices):
        NONE = "", _("anybody")
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Mechanical Turk"

    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    token_hash = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hexadecimal.")
    platform = models.CharField(max_length=16, choices=Platform, blank=True, default=Platform.NONE)
    note = models.CharField(max_length=200, blank=True)
    max_uses = models.PositiveIntegerField(null=True, blank=True, help_text="People who may join by it.")
    expires_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(platform__in=["", "prolific", "mturk"]), name="invitation_platform_is_known"
            ),
            models.CheckConstraint(condition=Q(max_uses=None) | Q(max_uses__gte=1), name="invitation_for_somebody"),
            models.CheckConstraint(
                condition=Q(revoked_by=None) | Q(revoked_at__isnull=False), name="invitation_revoked_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} into {self.study}"


class Participation(models.Model):
    """One person in one study: how they came, and when they had done their share.

    `platform_key` is a hash of the person's id on a platform, so that one id is one account in a study, also after
    what the platform said (`visits`) has been erased.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="participations")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="participations")
    invitation = models.ForeignKey(Invitation, models.SET_NULL, null=True, blank=True, related_name="participations")
    is_self_registered = models.BooleanField(default=False)
    platform = models.CharField(max_length=16, choices=Invitation.Platform, blank=True)
    platform_key = models.CharField(max_length=64, blank=True)
    visits = models.JSONField(default=list, blank=True, help_text="What the platform's link said, each set once.")
    joined_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    completion_code = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "annotator"], name="participation_once_per_study"),
            models.UniqueConstraint(
                fields=["study", "platform_key"], condition=~Q(platform_key=""), name="platform_id_once_per_study"
            ),
            models.CheckConstraint(
                condition=Q(platform="", platform_key="") | (~Q(platform="") & ~Q(platform_key="")),
                name="participation_platform_with_a_key",
            ),
            models.CheckConstraint(
                condition=Q(completion_code="") | Q(completed_at__isnull=False), name="completion_code_when_completed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.study}"


class ConsentDecision(models.Model):
    """What a person decided on taking part. Rows are only added; the newest one of a person in a study holds.

    A withdrawal says how many labels were erased and nothing of what they were.
    """

    class Decision(models.TextChoices):
        AGREED = "agreed", _("agreed")
        DECLINED = "declined", _("declined")
        WITHDRAWN = "withdrawn", _("withdrew")

    study = models.ForeignKey(Study, models.CASCADE, related_name="consent_decisions")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="consent_decisions")
    decision = models.CharField(max_length=16, choices=Decision)
    text = models.ForeignKey(ConsentText, models.RESTRICT, null=True, blank=True, related_name="decisions")
    erased = models.PositiveIntegerField(null=True, blank=True, help_text="Labels that a withdrawal erased.")
    recorded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The person, or the researcher whom they asked; empty for the command line.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["study", "annotator"], name="consent_of_person")]
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["agreed", "declined"], text__isnull=False, erased=None)
                | Q(decision="withdrawn", erased__isnull=False),
                name="consent_decision_on_a_text",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} {self.get_decision_display()} in {self.study}"


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
