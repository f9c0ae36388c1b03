"""Labels: what an annotator answers to an item's criteria, stored all together or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.errors import InputError
from annotation.models import Annotation, Assignment, Criterion, Draft, Study, User
from annotation.services import evidence as marked

TIE = "tie"
SIDES = ("A", "B")
STRENGTHS = ("slightly", "much")
LONGEST_REASON = 200


class NotTheirsError(InputError):
    """The slot was handed to somebody else, or the study was closed, before the labels arrived."""


@dataclass(frozen=True)
class Answer:
    """A value on the criterion's scale, or the reason why there is none."""

    value: str = ""
    unscored_reason: str = ""
    strength: str = ""


def submit(
    *,
    by: User,
    assignment: Assignment,
    values: Mapping[str, str],
    unscored: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    evidence: Mapping[str, str] | None = None,
    active_seconds: float | None = None,
) -> None:
    """Store one label per criterion of the study; submitting again replaces them.

    All four map keys of criteria. A pair's values are the side chosen, "A", "B" or "tie": stored is the response
    that was shown there. Where the study asks for the strength, it follows the side: "A:much" or "A:slightly".
    `unscored` gives the reason why a criterion could not be judged, `evidence` the words that justify the value, as
    JSON (see services/evidence.py). What was kept as a draft is now a label, and the draft is gone.
    """
    criteria = list(assignment.study.criteria.all())
    labels = to_store(assignment, criteria, values, unscored or {}, notes or {}, evidence or {})
    with transaction.atomic():
        hand_in(by, assignment, active_seconds)
        store(labels)
        Draft.objects.filter(assignment=assignment, annotator=by, decided_at=None).delete()


def to_store(
    assignment: Assignment,
    criteria: list[Criterion],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
    evidence: Mapping[str, str],
) -> list[Annotation]:
    """The labels, checked and not yet saved. Raises InputError with the criterion's key as its field."""
    answers = checked(assignment, criteria, values, unscored, notes)
    marks = {key: marked.checked(assignment, given, key) for key, given in evidence.items() if key in answers}
    return [
        Annotation(
            assignment=assignment,
            criterion=criterion,
            value=answers[criterion.key].value,
            strength=answers[criterion.key].strength,
            unscored_reason=answers[criterion.key].unscored_reason,
            note=notes.get(criterion.key, "").strip(),
            evidence=marks.get(criterion.key, []),
            guideline_version=criterion.guideline_version,
        )
        for criterion in criteria
    ]


def store(labels: list[Annotation]) -> None:
    """Save them in place of what the slot holds."""
    Annotation.objects.bulk_create(
        labels,
        update_conflicts=True,
        unique_fields=["assignment", "criterion"],
        update_fields=[
            "value",
            "strength",
            "unscored_reason",
            "note",
            "evidence",
            "guideline_version",
            "updated_at",
        ],
    )


def checked(
    assignment: Assignment,
    criteria: list[Criterion],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
) -> dict[str, Answer]:
    """The answer to every criterion; InputError with the criterion's key as its field otherwise."""
    known = {criterion.key for criterion in criteria}
    for key, text in chain(values.items(), unscored.items(), notes.items()):
        if "\0" in text:
            raise InputError("Null characters are not allowed.", field=key)
    if unknown := sorted((values.keys() | unscored.keys() | notes.keys()) - known):
        raise InputError("This study has no such criterion.", field=unknown[0])
    return {
        criterion.key: answer(
            assignment, criterion, values.get(criterion.key, ""), unscored.get(criterion.key, "").strip()
        )
        for criterion in criteria
    }


def answer(assignment: Assignment, criterion: Criterion, given: str, reason: str) -> Answer:
    if given and reason:
        raise InputError(
            f"{criterion.name}: choose a value or say why you cannot judge, not both.", field=criterion.key
        )
    if reason:
        if len(reason) > LONGEST_REASON:
            raise InputError(f"Say it in at most {LONGEST_REASON} characters.", field=criterion.key)
        return Answer(unscored_reason=reason)
    if not given:
        raise InputError(f"{criterion.name} has no answer yet.", field=criterion.key)
    given, strength = taken_apart(assignment.study, criterion, given)
    return Answer(value=stored_value(assignment, criterion, given), strength=strength)


def taken_apart(study: Study, criterion: Criterion, given: str) -> tuple[str, str]:
    """What was chosen and how strongly: "A:much" is A, much. A tie has no strength."""
    if not study.asks_strength or study.kind != Study.Kind.PAIR or given == TIE:
        return given, ""
    side, _, strength = given.partition(":")
    if strength not in STRENGTHS or side not in SIDES:
        raise InputError("Say whether it is much or slightly better.", field=criterion.key)
    return side, strength


def stored_value(assignment: Assignment, criterion: Criterion, given: str) -> str:
    """The category that is meant: for a pair the response that was shown on the side chosen."""
    value = given
    if assignment.study.kind == Study.Kind.PAIR:
        if given not in (*SIDES, TIE):
            raise InputError("Choose A, B or, where it is offered, a tie.", field=criterion.key)
        value = given if given == TIE else response_shown(assignment, criterion, given)
    if value not in criterion.values:
        raise InputError(f"{given!r} is not on the scale of {criterion.name}.", field=criterion.key)
    return value


def response_shown(assignment: Assignment, criterion: Criterion, side: str) -> str:
    if not assignment.order:
        raise InputError("It is not known which response was shown on which side.", field=criterion.key)
    return assignment.response_for(side)


def hand_in(by: User, assignment: Assignment, active_seconds: float | None) -> None:
    """Mark the slot submitted while it is still theirs and the study open. The first time of submission stays."""
    S = Assignment.State  # noqa: N806
    is_open = Exists(Study.objects.filter(pk=OuterRef("study_id"), state=Study.State.OPEN))
    theirs = Assignment.objects.filter(
        is_open, pk=assignment.pk, annotator=by, state__in=[S.LEASED, S.SKIPPED, S.SUBMITTED]
    )
    now = timezone.now()
    new: dict[str, Any] = {
        "state": S.SUBMITTED,
        "leased_until": None,
        "submitted_at": Coalesce("submitted_at", now),
    }
    if active_seconds is not None:
        new["active_seconds"] = possible_time(assignment, active_seconds, now)
    if not theirs.update(**new):
        raise NotTheirsError(why_not(assignment), field="assignment")


def possible_time(assignment: Assignment, claimed: float, now: datetime) -> float:
    """Seconds of work as the page counted them, from none to the time since the item was handed out."""
    longest = (now - assignment.started_at).total_seconds() if assignment.started_at else claimed
    return max(0.0, min(claimed, longest))


def why_not(assignment: Assignment) -> str:
    if not Study.objects.filter(pk=assignment.study_id, state=Study.State.OPEN).exists():
        return "This study is closed and takes no more labels."
    return "This item is not in your work any more."
