"""The tables of `judging`: judges, their runs, what they said, what that costs, and the workers that carry it out."""

from judging.assessment.models.assessment import (
    AuditRun,
    CalibrationRun,
    Certificate,
    Escalation,
    LabelPlan,
    Look,
    Revocation,
)
from judging.assessment.models.rules import VerdictRules
from judging.judges.models import CachedReply, HoldOut, Judge, ModelKey, Pause, Price, Quota, Seat, Worker
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.evaluations import Evaluation, EvaluationResult, FailureTag
from judging.runs.models.runs import EarlierReply, JudgeChunk, JudgeRun, Judgment

__all__ = [
    "AuditRun",
    "CachedReply",
    "CalibrationRun",
    "Certificate",
    "EarlierReply",
    "Escalation",
    "Evaluation",
    "EvaluationResult",
    "FailureTag",
    "HoldOut",
    "Judge",
    "JudgeBatch",
    "JudgeChunk",
    "JudgeRun",
    "Judgment",
    "LabelPlan",
    "Look",
    "ModelKey",
    "Pause",
    "Price",
    "Quota",
    "Revocation",
    "Seat",
    "VerdictRules",
    "Worker",
]
