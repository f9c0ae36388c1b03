"""The annotators of a study: what they are called, and whether they are people."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Study, User


@dataclass(frozen=True)
class Annotator:
    """How pages show an annotator; results know them by username."""

    name: str
    is_simulated: bool


def annotators_of(study: Study) -> dict[str, Annotator]:
    """By username, those who hold or have submitted assignments of the study. One query."""
    held = User.objects.filter(assignments__study=study).distinct().order_by("username")
    return {user.username: Annotator(str(user), user.is_simulated) for user in held}
