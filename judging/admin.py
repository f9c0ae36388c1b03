"""Judges, runs and workers as rows, for looking into trouble. Nothing is made or changed here."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from judging.assessment.models.assessment import AuditRun, CalibrationRun, Certificate, Escalation, Look, Revocation
from judging.assessment.models.rules import VerdictRules
from judging.judges.models import CachedReply, HoldOut, Judge, Pause, Price, Quota, Seat, Worker
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeChunk, JudgeRun, Judgment


class ReadOnly(admin.ModelAdmin[Model]):
    """What services write is only read here."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:  # noqa: ARG002
        return False


@admin.register(Judge)
class JudgeAdmin(ReadOnly):
    list_display = ["name", "version", "provider", "model", "created_at"]
    list_filter = ["provider"]
    search_fields = ["name", "model"]


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnly):
    list_display = ["id", "study", "judge", "created_at", "finished_at", "stopped_at"]
    list_select_related = ["study", "judge"]
    list_filter = ["judge"]


@admin.register(JudgeChunk)
class JudgeChunkAdmin(ReadOnly):
    list_display = ["id", "run", "index", "queued_at", "worker", "finished_at", "attempts", "error"]
    list_select_related = ["run__study", "run__judge", "worker"]
    search_fields = ["error"]


@admin.register(JudgeBatch)
class JudgeBatchAdmin(ReadOnly):
    list_display = ["id", "chunk", "external_id", "n_requests", "n_done", "created_at", "closed_at", "error"]
    list_select_related = ["chunk__run__study", "chunk__run__judge"]
    search_fields = ["external_id", "error"]


@admin.register(Pause)
class PauseAdmin(ReadOnly):
    list_display = ["provider", "model", "until"]


@admin.register(Judgment)
class JudgmentAdmin(ReadOnly):
    list_display = ["id", "run", "item", "criterion", "turn", "repeat", "order", "value", "unscored_reason"]
    list_select_related = ["run__study", "run__judge", "item__study", "criterion"]
    list_filter = ["unscored_reason"]
    show_full_result_count = False


@admin.register(Worker)
class WorkerAdmin(ReadOnly):
    list_display = ["name", "slots", "started_at", "seen_at"]


@admin.register(Price)
class PriceAdmin(ReadOnly):
    list_display = ["provider", "model", "valid_from", "input", "output", "created_by"]
    list_select_related = ["created_by"]


@admin.register(Quota)
class QuotaAdmin(ReadOnly):
    list_display = ["provider", "model", "requests_per_minute", "tokens_per_minute"]


@admin.register(Seat)
class SeatAdmin(ReadOnly):
    list_display = ["judge", "worker", "n"]
    list_select_related = ["judge", "worker"]


@admin.register(CachedReply)
class CachedReplyAdmin(ReadOnly):
    list_display = ["key", "provider", "model", "created_at"]
    show_full_result_count = False


@admin.register(CalibrationRun)
class CalibrationRunAdmin(ReadOnly):
    list_display = ["id", "study", "judge", "seed", "input_hash", "code_version", "created_by", "created_at"]
    list_select_related = ["study", "judge", "created_by"]
    show_full_result_count = False


@admin.register(AuditRun)
class AuditRunAdmin(CalibrationRunAdmin):
    pass


@admin.register(Certificate)
class CertificateAdmin(ReadOnly):
    list_display = ["sha256", "study", "judge", "created_by", "created_at"]
    list_select_related = ["study", "judge", "created_by"]


@admin.register(Revocation)
class RevocationAdmin(ReadOnly):
    list_display = ["certificate", "reason", "created_by", "created_at"]
    list_select_related = ["certificate", "created_by"]


@admin.register(VerdictRules)
class VerdictRulesAdmin(ReadOnly):
    list_display = ["study", "number", "kind", "reason", "created_by", "created_at"]
    list_select_related = ["study", "created_by"]


@admin.register(Escalation)
class EscalationAdmin(ReadOnly):
    list_display = ["id", "study", "judge", "target", "target_agreement", "created_by", "created_at"]
    list_select_related = ["study", "judge", "target", "created_by"]


@admin.register(HoldOut)
class HoldOutAdmin(ReadOnly):
    list_display = ["study", "share", "seed", "created_by", "created_at"]
    list_select_related = ["study", "created_by"]


@admin.register(Look)
class LookAdmin(ReadOnly):
    list_display = ["id", "study", "judge", "calibration", "created_by", "created_at"]
    list_select_related = ["study", "judge", "calibration__study", "calibration__judge", "created_by"]
