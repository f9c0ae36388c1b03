"""What was computed of a judge, and what was promised of it. Rows are only added."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver

from annotation.studies.models.studies import Criterion, Study
from judging.assessment.result_types import AuditDocument, CalibrationDocument
from judging.judges.models import Judge


class JudgedResult(models.Model):
    """One computation about a judge on a study: parameters, seed, a hash of its input, and its result."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="%(class)ss")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="%(class)ss")
    parameters = models.JSONField()
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of the labels and judgments it was computed from.")
    code_version = models.CharField(max_length=64)
    result = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        get_latest_by = "created_at"
        indexes = [models.Index(fields=["study", "judge", "input_hash"])]

    def __str__(self) -> str:
        return f"{self.judge} on {self.study} {self.created_at:%Y-%m-%d %H:%M}"


class CalibrationRun(JudgedResult):
    """Agreement, the alternative-annotator test, corrected figures, recalibration and selective judging."""

    @property
    def document(self) -> CalibrationDocument:
        """The result, in the shape in which it was made."""
        return cast("CalibrationDocument", self.result)


class AuditRun(JudgedResult):
    """The probes of a judge, and the audits of the data it was held to."""

    @property
    def document(self) -> AuditDocument:
        """The result, in the shape in which it was made."""
        return cast("AuditDocument", self.result)


class Certificate(models.Model):
    """What was found of a judge and by which rules, signed. It holds while judge, prompts and items are the same."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="certificates")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="certificates")
    content = models.JSONField()
    sha256 = models.CharField(max_length=64, unique=True, help_text="Over the content as canonical JSON.")
    public_key = models.CharField(
        max_length=64, blank=True, help_text="Checks the signature; empty where it was issued before signing."
    )
    signature = models.CharField(max_length=128, blank=True, help_text="Ed25519, over the content as canonical JSON.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"

    def __str__(self) -> str:
        return self.sha256[:12]


class Revocation(models.Model):
    """A certificate that its issuer does not stand by any more. Never changed, never removed."""

    certificate = models.OneToOneField(Certificate, models.DO_NOTHING, related_name="revocation")
    reason = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="revocation_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"revocation of {self.certificate}"


@receiver(post_delete, sender=Certificate)
def delete_revocation(instance: Certificate, **_: object) -> None:
    """Behind its certificate: the database refuses it as long as that is there (row_triggers)."""
    Revocation.objects.filter(certificate_id=instance.pk).delete()


class Escalation(models.Model):
    """A study made of the items on which a judge could not be relied upon, for people to decide."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="escalations", help_text="That the judge judged.")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="escalations")
    calibration = models.ForeignKey(CalibrationRun, models.PROTECT, related_name="escalations")
    target = models.OneToOneField(
        Study, models.CASCADE, related_name="escalated_from", help_text="The study made for people."
    )
    target_agreement = models.FloatField(help_text="The agreement that had to be guaranteed.")
    thresholds = models.JSONField(help_text="By criterion, the least confidence that was kept; null where none was.")
    cascade = models.JSONField(
        default=dict,
        blank=True,
        help_text="Where judges were asked one after the other: delta, and each stage with its limits; else empty.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(target_agreement__gt=0, target_agreement__lt=1), name="escalation_target_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.target} from {self.study}"


class LabelPlan(models.Model):
    """A study of items drawn to be labelled next, each with a known probability, for the mean of one criterion."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="label_plans", help_text="That the judge judged.")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="label_plans")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="label_plans")
    target = models.OneToOneField(
        Study, models.CASCADE, related_name="planned_from", help_text="The study made for people."
    )
    parameters = models.JSONField(help_text="What was asked for: width, by, confidence.")
    seed = models.PositiveBigIntegerField(default=0)
    probabilities = models.JSONField(
        help_text="By name in the study, of every item, turn or response that could be drawn, the probability it had."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"

    def __str__(self) -> str:
        return f"{self.target} from {self.study}"


class Look(models.Model):
    """Somebody saw what a version of a judge does on the held-out part. Never changed, never removed."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="looks")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="looks")
    calibration = models.ForeignKey(CalibrationRun, models.PROTECT, related_name="looks", help_text="What was seen.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        get_latest_by = "created_at"

    def __str__(self) -> str:
        return f"{self.judge} on {self.study} {self.created_at:%Y-%m-%d %H:%M}"
