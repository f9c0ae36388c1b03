"""Labels: what an annotator answers to an item's criteria, stored all together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db import transaction
from django.utils import timezone

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Assignment, Criterion, Study
from annotation.studies.queries.asks import Ask, asks
from annotation.workbench.services import annotation_writer, announcements, overlap
from annotation.workbench.services import highlights as marked
from core.accounts.models.users import User
from core.errors import InputError

TIE = "tie"
SIDES = ("A", "B")
STRENGTHS = ("slightly", "much")
LONGEST_REASON = 200


class NotTheirsError(InputError):
    """The slot was handed to somebody else, or the study was closed, before the labels arrived."""

    status = 409


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
    versions: Mapping[str, str] | None = None,
    active_seconds: float | None = None,
) -> None:
    """Store one label per criterion of the study, or per turn that it is asked of; submitting again replaces them.

    All five map names of asks: a criterion's key, with the turn behind a full stop where it is asked of turns. A
    pair's values are the side chosen, "A", "B" or "tie": stored is the response that was shown there. Where the study
    asks for the strength, it follows the side: "A:much" or "A:slightly". `unscored` gives the reason why a criterion
    could not be judged, `evidence` the words that justify the value, as JSON (see services/evidence.py), `versions`
    the version of the guideline that was shown, by default the newest. What was kept as a draft is now a label, and the
    draft is gone.
    """
    asked = asks(assignment, assignment.study.asked)
    labels = to_store(assignment, asked, values, unscored or {}, notes or {}, evidence or {}, versions or {})
    now = timezone.now()
    spent = None if active_seconds is None else possible_time(assignment, active_seconds, now)
    with transaction.atomic() if assignment.is_watched else nullcontext():
        if not annotation_writer.submit_labels(by, assignment, labels, active_seconds=spent, now=now):
            raise NotTheirsError(find_obstacle(assignment), field="assignment")
        if assignment.is_watched:
            announcements.announce_submitted(assignment)
        overlap.start_due_round(assignment)


def to_store(
    assignment: Assignment,
    asked: Sequence[Ask],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
    evidence: Mapping[str, str],
    versions: Mapping[str, str],
) -> list[Annotation]:
    """The labels, checked and not yet saved. Raises InputError with the ask's name as its field."""
    answers = check_answers(assignment, asked, values, unscored, notes)
    marks = {name: marked.check_marks(assignment, given, name) for name, given in evidence.items() if name in answers}
    return [
        Annotation(
            assignment=assignment,
            criterion=ask.criterion,
            turn=ask.turn,
            value=answers[ask.name].value,
            strength=answers[ask.name].strength,
            unscored_reason=answers[ask.name].unscored_reason,
            note=notes.get(ask.name, "").strip(),
            evidence=marks.get(ask.name, []),
            guideline_version=check_version(ask, versions.get(ask.name, "")),
        )
        for ask in asked
    ]


def check_version(ask: Ask, given: str) -> int:
    """The version of the guideline that the page says it showed: one that there is. The newest if it says nothing."""
    newest = ask.criterion.guideline_version
    if not given:
        return newest
    if not (given.isascii() and given.isdecimal() and len(given) < 6 and 1 <= int(given) <= newest):
        raise InputError(f"{ask.title}: there is no version {given[:20]!r} of its guideline.", field=ask.name)
    return int(given)


def store(labels: list[Annotation]) -> None:
    """Save them in place of what the slot holds."""
    Annotation.objects.bulk_create(
        labels,
        update_conflicts=True,
        unique_fields=["assignment", "criterion", "turn"],
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


def check_answers(
    assignment: Assignment,
    asked: Sequence[Ask],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
) -> dict[str, Answer]:
    """The answer to everything that is asked, by name; InputError with that name as its field otherwise."""
    known = {ask.name for ask in asked}
    for key, text in chain(values.items(), unscored.items(), notes.items()):
        if "\0" in text:
            raise InputError("Null characters are not allowed.", field=key)
    if unknown := sorted((values.keys() | unscored.keys() | notes.keys()) - known):
        raise InputError("This study has no such criterion.", field=unknown[0])
    return {
        ask.name: answer(assignment, ask, values.get(ask.name, ""), unscored.get(ask.name, "").strip()) for ask in asked
    }


def answer(assignment: Assignment, ask: Ask, given: str, reason: str) -> Answer:
    if given and reason:
        raise InputError(f"{ask.title}: choose a value or say why you cannot judge, not both.", field=ask.name)
    if reason:
        if len(reason) > LONGEST_REASON:
            raise InputError(f"Say it in at most {LONGEST_REASON} characters.", field=ask.name)
        return Answer(unscored_reason=reason)
    if not given:
        raise InputError(f"{ask.title} has no answer yet.", field=ask.name)
    given, strength = split_strength(assignment.study, ask, given)
    return Answer(value=to_stored_value(assignment, ask, given), strength=strength)


def split_strength(study: Study, ask: Ask, given: str) -> tuple[str, str]:
    """What was chosen and how strongly: "A:much" is A, much. A tie has no strength."""
    if not study.asks_strength or study.kind != Study.Kind.PAIR or given == TIE:
        return given, ""
    side, _, strength = given.partition(":")
    if strength not in STRENGTHS or side not in SIDES:
        raise InputError("Say whether it is much or slightly better.", field=ask.name)
    return side, strength


def to_stored_value(assignment: Assignment, ask: Ask, given: str) -> str:
    """The category that is meant: for a pair the response that was shown on the side chosen."""
    value = given
    if assignment.study.kind == Study.Kind.PAIR:
        if given not in (*SIDES, TIE):
            raise InputError("Choose A, B or, where it is offered, a tie.", field=ask.name)
        value = given if given == TIE else response_shown(assignment, ask.criterion, given)
    if value not in ask.criterion.values:
        raise InputError(f"{given!r} is not on the scale of {ask.title}.", field=ask.name)
    return value


def response_shown(assignment: Assignment, criterion: Criterion, side: str) -> str:
    if not assignment.order:
        raise InputError("It is not known which response was shown on which side.", field=criterion.key)
    return assignment.response_for(side)


def possible_time(assignment: Assignment, claimed: float, now: datetime) -> float:
    """Seconds of work as the page counted them, from none to the time since the item was handed out."""
    longest = (now - assignment.started_at).total_seconds() if assignment.started_at else claimed
    return max(0.0, min(claimed, longest))


def find_obstacle(assignment: Assignment) -> str:
    if not Study.objects.filter(pk=assignment.study_id, state=Study.State.OPEN).exists():
        return "This study is closed and takes no more labels."
    return "This item is not in your work any more."
