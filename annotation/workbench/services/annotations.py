"""Labels: what an annotator answers to an item's criteria, stored all together or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.stats.orders import TIE, to_response
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.parsing.answers import is_unchanged, parse_answer
from annotation.studies.queries.answer_formats import build_format, to_stored
from annotation.studies.queries.asks import Ask, asks, asks_strength, is_met, is_preference, to_condition
from annotation.workbench.options import LONGEST_REASON, ItemReason
from annotation.workbench.services import annotation_writer, announcements, overlap
from annotation.workbench.services import highlights as marked
from core.accounts.models.users import User
from core.errors import InputError
from core.options.model import check_options

STRENGTHS = ("slightly", "much")


class NotTheirsError(InputError):
    """The slot was handed to somebody else, or the study was closed, before the labels arrived."""

    status = 409


@dataclass(frozen=True)
class GivenAnswer:
    """A value with what does not fit there, or the reason why there is none."""

    value: str = ""
    unscored_reason: str = ""
    strength: str = ""
    content: Any = None


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
            _("%(title)s: there is no version %(version)r of its guideline.")
            % {"title": ask.title, "version": given[:20]},
            field=ask.name,
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


def check_answers(
    assignment: Assignment,
    asked: Sequence[Ask],
    values: Mapping[str, str],
    unscored: Mapping[str, str],
    notes: Mapping[str, str],
) -> dict[str, GivenAnswer]:
    """The answers to all that is asked and has one, by name; InputError with that name as its field otherwise."""
    known = {ask.name for ask in asked}
    for key, text in chain(values.items(), unscored.items(), notes.items()):
        if "\0" in text:
            raise InputError(_("Null characters are not allowed."), field=key)
    if unknown := sorted((values.keys() | unscored.keys() | notes.keys()) - known):
        raise InputError(_("This study has no such criterion."), field=unknown[0])
    found = {}
    for ask in list_due(assignment, asked, values):
        given, reason = values.get(ask.name, ""), unscored.get(ask.name, "").strip()
        if one := answer(assignment, ask, given, reason, note=notes.get(ask.name, "")):
            found[ask.name] = one
    return found


def list_due(assignment: Assignment, asked: Sequence[Ask], values: Mapping[str, str]) -> list[Ask]:
    """Those whose condition is met: by an answer to an ask that is itself due."""
    by_name = {ask.name: ask for ask in asked}

    def is_due(ask: Ask) -> bool:
        condition = to_condition(assignment, ask)
        if condition is None:
            return True
        return is_met(condition, values) and is_due(by_name[condition["name"]])

    return [ask for ask in asked if is_due(ask)]


def answer(assignment: Assignment, ask: Ask, given: str, reason: str, *, note: str = "") -> GivenAnswer | None:
    """The answer; None where none is given and none is needed."""
    if given and reason:
        raise InputError(
            _("%(title)s: choose a value or say why you cannot judge, not both.") % {"title": ask.title}, field=ask.name
        )
    if reason:
        if len(reason) > LONGEST_REASON:
            raise InputError(_("Say it in at most %(most)d characters.") % {"most": LONGEST_REASON}, field=ask.name)
        return GivenAnswer(unscored_reason=reason)
    if is_preference(assignment.study, ask.criterion) and given:
        side, strength = split_strength(assignment, ask, given)
        return GivenAnswer(value=to_stored_response(assignment, ask, side), strength=strength)
    return read_answer(assignment, ask, given, note)


def read_answer(assignment: Assignment, ask: Ask, given: str, note: str) -> GivenAnswer | None:
    """An answer of any type. A rewrite that is still as the page showed it is none."""
    asked = build_format(assignment, ask)
    if not given.strip() or is_unchanged(asked, given):
        if ask.criterion.is_required:
            raise InputError(_("%(title)s has no answer yet.") % {"title": ask.title}, field=ask.name)
        if note.strip():
            raise InputError(
                _("%(title)s has a note and no answer: give one, or say why you cannot.") % {"title": ask.title},
                field=ask.name,
            )
        return None
    try:
        found = to_stored(assignment, ask, parse_answer(asked, given))
    except InputError as error:
        wrong = _("%(given)r is not on the scale of %(title)s.") % {"given": given, "title": ask.title}
        said = wrong if asked.type == Criterion.Type.CHOICE else f"{ask.title}: {error.translate(_)}"
        raise InputError(said, field=ask.name) from error
    return GivenAnswer(value=found.value, content=found.content)


def split_strength(assignment: Assignment, ask: Ask, given: str) -> tuple[str, str]:
    """What was chosen and how strongly: "A:much" is A, much. A tie has no strength."""
    if not asks_strength(assignment) or given == TIE:
        return given, ""
    side, _separator, strength = given.partition(":")
    if strength not in STRENGTHS or side not in assignment.sides:
        raise InputError(_("Say whether it is much or slightly better."), field=ask.name)
    return side, strength


def to_stored_response(assignment: Assignment, ask: Ask, given: str) -> str:
    """The category of a preference that is meant: the response that was shown on the side chosen."""
    if not assignment.order:
        raise InputError(_("It is not known which response was shown on which side."), field=ask.name)
    if given not in (*assignment.sides, TIE):
        raise InputError(
            _("Choose %(sides)s or, where it is offered, a tie.") % {"sides": ", ".join(assignment.sides)},
            field=ask.name,
        )
    value = to_response(given, assignment.order)
    if value not in ask.criterion.values:
        raise InputError(
            _("%(given)r is not on the scale of %(title)s.") % {"given": given, "title": ask.title}, field=ask.name
        )
    return value


def possible_time(assignment: Assignment, claimed: float, now: datetime) -> float:
    """Seconds of work as the page counted them, from none to the time since the item was handed out."""
    longest = (now - assignment.started_at).total_seconds() if assignment.started_at else claimed
    return max(0.0, min(claimed, longest))


def find_obstacle(assignment: Assignment) -> str:
    """Why it takes no labels of theirs, in English: it is kept with late answers, for researchers."""
    if not Study.objects.filter(pk=assignment.study_id, state=Study.State.OPEN).exists():
        return gettext_noop("This study is closed and takes no more labels.")
    return gettext_noop("This item is not in your work any more.")
