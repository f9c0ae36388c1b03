"""The tables of `annotation`: people, the corpus, studies, and the labels that people give."""

from annotation.agreement.models import TierOverride
from annotation.benchmarks.models import (
    Benchmark,
    BenchmarkAudit,
    BenchmarkCase,
    FilterOutcome,
    FilterRound,
    ReleasedError,
)
from annotation.corpus.models import (
    Attachment,
    AttachmentUse,
    Dialogue,
    Profile,
    ResponsePair,
    SavedMapping,
    Scenario,
    Task,
)
from annotation.quality.models import Admission, KnownAnswer, KnownItem, QueueRules
from annotation.recruitment.models import (
    ConsentDecision,
    ConsentText,
    DemographicAnswer,
    DemographicQuestion,
    Intake,
    Invitation,
    Participation,
)
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Adjudication, AgreementRun, Annotation, Draft, Exclusion
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Criterion, GuidelineVersion, Item, Sample, Study
from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from annotation.workbench.models import OverlapRound
from core.accounts.models.projects import InProject, Membership, Project
from core.accounts.models.tokens import ApiToken, IdempotentWrite
from core.accounts.models.users import User
from core.audit.models import Act

__all__ = [
    "Act",
    "Adjudication",
    "Admission",
    "AgreementRun",
    "Annotation",
    "ApiToken",
    "Assignment",
    "Attachment",
    "AttachmentUse",
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
    "ItemMark",
    "ItemMessage",
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
    "SavedMapping",
    "Scenario",
    "Study",
    "Task",
    "TierOverride",
    "User",
    "Webhook",
    "WebhookDelivery",
]
