"""The tables of `judging`: judges, their runs, what they said, what that costs, and the workers that carry it out."""

from judging.models.batch import JudgeBatch
from judging.models.evaluation import Evaluation, EvaluationResult, FailureTag
from judging.models.judge import Judge
from judging.models.key import ModelKey
from judging.models.limits import CachedReply, Price, Quota, Seat
from judging.models.pause import Pause
from judging.models.rules import VerdictRules
from judging.models.run import EarlierReply, JudgeChunk, JudgeRun, Judgment
from judging.models.trust import AuditRun, CalibrationRun, Certificate, Escalation, HoldOut, LabelPlan, Look, Revocation
from judging.models.worker import Worker

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
