"""The tables of `annotation`: people, the corpus, studies, and the labels that people give."""

from annotation.models.act import Act
from annotation.models.api import ApiToken, IdempotentWrite
from annotation.models.benchmark import (
    Benchmark,
    BenchmarkAudit,
    BenchmarkCase,
    FilterOutcome,
    FilterRound,
    ReleasedError,
)
from annotation.models.corpus import Dialogue, Profile, ResponsePair, Scenario, Task
from annotation.models.demographics import DemographicAnswer, DemographicQuestion
from annotation.models.exclusion import Exclusion
from annotation.models.guidelines import GuidelineVersion
from annotation.models.known import Admission, KnownAnswer, KnownItem, QueueRules
from annotation.models.labels import Adjudication, AgreementRun, Annotation, Draft
from annotation.models.overlap import OverlapRound
from annotation.models.participation import ConsentDecision, ConsentText, Intake, Invitation, Participation
from annotation.models.project import InProject, Membership, Project
from annotation.models.study import Assignment, Criterion, Item, Sample, Study
from annotation.models.tiers import TierOverride
from annotation.models.user import User
from annotation.models.webhook import Webhook, WebhookDelivery

__all__ = [
    "Act",
    "Adjudication",
    "Admission",
    "AgreementRun",
    "Annotation",
    "ApiToken",
    "Assignment",
    "Benchmark",
    "BenchmarkAudit",
    "BenchmarkCase",
    "ConsentDecision",
    "ConsentText",
    "Criterion",
    "DemographicAnswer",
    "DemographicQuestion",
    "Dialogue",
    "Draft",
    "Exclusion",
    "FilterOutcome",
    "FilterRound",
    "GuidelineVersion",
    "IdempotentWrite",
    "InProject",
    "Intake",
    "Invitation",
    "Item",
    "KnownAnswer",
    "KnownItem",
    "Membership",
    "OverlapRound",
    "Participation",
    "Profile",
    "Project",
    "QueueRules",
    "ReleasedError",
    "ResponsePair",
    "Sample",
    "Scenario",
    "Study",
    "Task",
    "TierOverride",
    "User",
    "Webhook",
    "WebhookDelivery",
]
