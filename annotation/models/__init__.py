"""The tables of `annotation`: people, the corpus, studies, and the labels that people give."""

from annotation.models.corpus import Dialogue, Profile, ResponsePair, Scenario, Task
from annotation.models.exclusion import Exclusion
from annotation.models.labels import Adjudication, AgreementRun, Annotation, Draft
from annotation.models.study import Assignment, Criterion, Item, Sample, Study
from annotation.models.tiers import TierOverride
from annotation.models.user import User

__all__ = [
    "Adjudication",
    "AgreementRun",
    "Annotation",
    "Assignment",
    "Criterion",
    "Dialogue",
    "Draft",
    "Exclusion",
    "Item",
    "Profile",
    "ResponsePair",
    "Sample",
    "Scenario",
    "Study",
    "Task",
    "TierOverride",
    "User",
]
