"""Labels: what an annotator answers to an item's criteria, stored all together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries.asks import Ask, asks
from annotation.studies.queries.given_answers import check_answers
from annotation.workbench.options import ItemReason
from annotation.workbench.services import annotation_writer, announcements, highlights as marked, overlap
from core.accounts.models.users import User
from core.errors import InputError
from core.options.model import check_options


class NotTheirsError(InputError):
    """The slot was handed to somebody else, or the study was closed, before the labels arrived."""

    status = 409


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
    """Store one label per criterion of the study, or per turn or response that it is asked of; submitting again
    replaces them.

    All five map names of asks: a criterion's key, with the turn behind a full stop where it is asked of turns, or the
    side ("A") where it is asked of responses. Values are as `annotation.studies.parsing.answers` reads them, with
    responses by their sides. A preference is the side chosen, "A", "B" or "tie": stored is the response that was shown
    there. Where the study asks for the strength, it follows the side: "A:much" or "A:slightly". `unscored` gives the
    reason why a criterion could not be judged, `evidence` the words that justify the value, as JSON (see
    services/highlights.py), `versions` the version of the guideline that was shown, by default the newest. Nothing is
    stored for a criterion whose condition is not met, nor for an optional one without an answer. What was kept as a
    draft is now a label, and the draft is gone.
    """
    asked = asks(assignment, assignment.study.asked)
    labels = to_store(assignment, asked, values, unscored or {}, notes or {}, evidence or {}, versions or {})
    now = timezone.now()
    spent = None if active_seconds is None else possible_time(assignment, active_seconds, now)
    with transaction.atomic() if assignment.is_watched else nullcontext():
        was_submitted = assignment.state == Assignment.State.SUBMITTED
        if not annotation_writer.submit_labels(by, assignment, labels, active_seconds=spent, now=now):
            raise NotTheirsError(find_obstacle(assignment), field="assignment")
        if was_submitted:
            drop_others(assignment, labels)
        if assignment.is_watched:
            announcements.announce_submitted(assignment)
        overlap.start_due_round(assignment)


@check_options(ItemReason)
def decline(*, by: User, assignment: Assignment, reason: str, active_seconds: float | None = None) -> None:
    """Store that nothing of the item can be judged: one reason for all that is asked, in place of what was said."""
    names = [ask.name for ask in asks(assignment, assignment.study.asked)]
    submit(
        by=by,
        assignment=assignment,
        values={},
        unscored=dict.fromkeys(names, reason),
        active_seconds=active_seconds,
    )


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
            content=answers[ask.name].content,
            strength=answers[ask.name].strength,
            unscored_reason=answers[ask.name].unscored_reason,
            note=notes.get(ask.name, "").strip(),
            evidence=marks.get(ask.name, []),
            guideline_version=check_version(ask, versions.get(ask.name, "")),
        )
        for ask in asked
        if ask.name in answers
    ]


def check_version(ask: Ask, given: str) -> int:
    """The version of the guideline that the page says it showed: one that there is. The newest if it says nothing."""
    newest = ask.criterion.guideline_version
    if not given:
        return newest
    if not (given.isascii() and given.isdecimal() and len(given) < 6 and 1 <= int(given) <= newest):
        raise InputError(
            "{title}: there is no version {version!r} of its guideline.",
            field=ask.name,
            title=ask.title,
            version=given[:20],
        )
    return int(given)


def store(assignment: Assignment, labels: list[Annotation]) -> None:
    """Save them in place of what the slot holds."""
    Annotation.objects.bulk_create(
        labels,
        update_conflicts=True,
        unique_fields=["assignment", "criterion", "turn"],
        update_fields=[
            "value",
            "content",
            "strength",
            "unscored_reason",
            "note",
            "evidence",
            "guideline_version",
            "updated_at",
        ],
    )
    drop_others(assignment, labels)


def drop_others(assignment: Assignment, labels: Sequence[Annotation]) -> None:
    """Drop what the slot held on criteria that are asked now and have no answer any more."""
    given = {(one.criterion_id, one.turn) for one in labels}
    there = Annotation.objects.filter(assignment=assignment, criterion__is_asked=True)
    gone = [pk for pk, *about in there.values_list("pk", "criterion_id", "turn") if tuple(about) not in given]
    if gone:
        Annotation.objects.filter(pk__in=gone).delete()


def possible_time(assignment: Assignment, claimed: float, now: datetime) -> float:
    """Seconds of work as the page counted them, from none to the time since the item was handed out."""
    longest = (now - assignment.started_at).total_seconds() if assignment.started_at else claimed
    return max(0.0, min(claimed, longest))


def find_obstacle(assignment: Assignment) -> str:
    """Why it takes no labels of theirs, in English: it is kept with late answers, for researchers."""
    if not Study.objects.filter(pk=assignment.study_id, state=Study.State.OPEN).exists():
        return gettext_noop("This study is closed and takes no more labels.")
    return gettext_noop("This item is not in your work any more.")
