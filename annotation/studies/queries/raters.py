"""The annotators of a study: what they are called, and whether they are people."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User


@dataclass(frozen=True)
class Annotator:
    """How pages show an annotator; results know them by username."""

    name: str
    is_simulated: bool


def load_annotators(study: Study) -> dict[str, Annotator]:
    """By username, those who hold or have submitted assignments of the study. One query."""
    slots = Assignment.objects.filter(study=study, annotator=OuterRef("pk"))  # of one, who may hold a million
    held = User.objects.filter(Exists(slots)).order_by("username")
    return {user.username: Annotator(str(user), user.is_simulated) for user in held}
