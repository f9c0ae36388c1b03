"""What erasing an account would mean, for whoever is to confirm it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotation.studies.models.labels import Annotation
from config.erasure.erasing import find_obstacle, list_studies, to_pseudonym
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible


@dataclass(frozen=True)
class About:
    """An account before it is erased.

    Attributes
    ----------
    username, number
        What it is called, and what it would be called then.
    labels, studies
        How many labels stay, and the studies in which the person has or had a part, by name.
    refused
        Why it cannot be erased, in a sentence; empty if it can.
    """

    username: str
    number: str
    labels: int
    studies: tuple[str, ...]
    refused: str

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "studies": list(self.studies)}


def load_about(*, by: User | None, person: User) -> About:
    """What `by` may see of it: a command and the person all, others what is of their projects."""
    theirs = list_studies(person)
    seen = theirs if by in (None, person) else filter_visible(by, theirs)
    labels = Annotation.objects.filter(assignment__annotator=person, assignment__study__in=seen).count()
    names = seen.order_by("name").values_list("name", flat=True)
    return About(person.username, to_pseudonym(person), labels, tuple(names), find_obstacle(by, person))
