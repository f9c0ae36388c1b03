"""What comes before the work: training items with explained answers, then a qualification round with a pass mark.

The items are handed out one after the other and answered on the page of every item, once. When all are answered the
result is recorded; from then on it holds, until a researcher lets somebody through, or lets them try again, by a
decision with a reason. Another try is a round of its own: with the items that are named for it, or the same ones.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.quality.models import Admission, KnownItem
from annotation.quality.queries import gold_questions
from annotation.stats.queueing import draw_order
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

LONGEST_REASON = 10_000


def is_open_for(by: User, study: Study) -> bool:
    """Whether the work is open to them; a round that has just been completed is marked first."""
    return gold_questions.is_through(by, study) or mark_round(by, study)


def mark_round(by: User, study: Study) -> bool:
    """Mark the round if all of it is answered. Whether they passed by that."""
    result = conclude(by=by, study=study)
    return result is not None and result.lets_through


def assign_next(by: User, study: Study, *, lease: timedelta) -> Assignment | None:
    """What they are to answer before the work; None when that is done, and they did not pass."""
    number = open_round(gold_questions.admission(by, study))
    if number is None:
        return None
    begun = study.assignments.filter(annotator=by, state=Assignment.State.LEASED).exclude(known=None)
    if found := begun.order_by("started_at").first():
        return found
    item = gold_questions.find_unanswered(by, study, number)
    return give(by, study, item, lease, number) if item else None


def open_round(newest: Admission | None) -> int | None:
    """The round that somebody is in; None once its result is known."""
    if newest is None:
        return 1
    return newest.round if newest.outcome == Admission.Outcome.AGAIN else None


def give(by: User, study: Study, item: KnownItem, lease: timedelta, number: int = 1) -> Assignment:
    """Make the assignment, or find the one that was made in another window just now."""
    now = timezone.now()
    order, tries = "", number if item.purpose == KnownItem.Purpose.QUALIFICATION else 1
    if pair := item.item.pair:
        # which side was right the first time says nothing of the second
        stream = f"{item.purpose} {tries}"
        order = draw_order(study.seed, by.username, item.position, stream, n=pair.n_responses)
    same = {"study": study, "item": item.item_id, "purpose": item.purpose, "annotator": by, "round": tries}
    try:
        with transaction.atomic():
            return Assignment.objects.create(
                study=study,
                item_id=item.item_id,
                known=item,
                purpose=item.purpose,
                slot=1,
                round=tries,
                rank=item.position,
                annotator=by,
                state=Assignment.State.LEASED,
                order=order,
                started_at=now,
                leased_until=now + lease,
            )
    except IntegrityError:
        return Assignment.objects.get(**same)


def conclude(*, by: User, study: Study) -> Admission | None:
    """Record the result of their round if all of it is answered; None before. Asked twice, the same.

    Right answers are counted against all that were asked: who says that something cannot be judged has not shown that
    they can. Without qualification items the training alone lets them through.
    """
    done = gold_questions.admission(by, study)
    number = open_round(done)
    if number is None:
        return done
    unfinished = study.assignments.filter(annotator=by).exclude(known=None).exclude(state=gold_questions.SUBMITTED)
    if study.pass_mark is None or gold_questions.find_unanswered(by, study, number) or unfinished.exists():
        return None
    answers = [
        one
        for item in gold_questions.load_round(by, study, gold_questions.QUALIFICATION, number)
        for one in item.answers
    ]
    right = sum(one.right is True for one in answers)
    passed = has_passed(right, len(answers), study.pass_mark)
    made, _ = Admission.objects.get_or_create(
        study=study,
        annotator=by,
        round=number,
        decided_by=None,
        defaults={
            "outcome": Admission.Outcome.PASSED if passed else Admission.Outcome.FAILED,
            "asked": len(answers),
            "right": right,
            "pass_mark": study.pass_mark,
        },
    )
    return made


@audited("annotator.admit", on="annotator")
def let_through(*, by: User, study: Study, annotator: User, reason: str) -> Admission:
    """A researcher's decision that somebody may rate, whatever the result of their round was."""
    newest = find_last_result(study, annotator)
    number = newest.round if newest else 1
    return create_admission(by, study, annotator, newest, Admission.Outcome.ADMITTED, number, reason)


@audited("annotator.try_again", on="annotator")
def try_again(*, by: User, study: Study, annotator: User, reason: str) -> Admission:
    """A researcher's decision that somebody who did not pass is asked once more: it opens their next round."""
    newest = find_last_result(study, annotator)
    if newest is None or newest.outcome != Admission.Outcome.FAILED:
        says = gettext_noop("{annotator} has not come to the end of the qualification.")
        if newest:
            says = gettext_noop("{annotator} may try again already.")
        raise InputError(says, field="annotator", annotator=annotator)
    try:
        with transaction.atomic():
            return create_admission(by, study, annotator, newest, Admission.Outcome.AGAIN, newest.round + 1, reason)
    except IntegrityError as error:  # in another window they were given this round just now
        raise InputError("{annotator} may try again already.", field="annotator", annotator=annotator) from error


def find_last_result(study: Study, annotator: User) -> Admission | None:
    """The newest of somebody who may not rate yet. Raises InputError of everybody else."""
    find_pass_mark(study)
    if not study.annotators.contains(annotator):
        raise InputError(
            "{annotator} is not an annotator of {study}.", field="annotator", annotator=annotator, study=study
        )
    newest = gold_questions.admission(annotator, study)
    if newest and newest.lets_through:
        raise InputError("{annotator} may rate already.", field="annotator", annotator=annotator)
    return newest


def has_passed(right: int, asked: int, mark: float) -> bool:
    """Whether so many right answers are the share that was asked for, as it was typed.

    .56 of 25 is 14, though 0.56 * 25 is a little more in binary fractions.
    """
    return right >= Decimal(str(mark)) * asked


def find_pass_mark(study: Study) -> float:
    """Its pass mark. Raises InputError where it asks for no qualification."""
    if study.pass_mark is None:
        raise InputError("{study} asks for no qualification.", field="study", study=study)
    return study.pass_mark


def create_admission(
    by: User, study: Study, annotator: User, newest: Admission | None, outcome: str, number: int, reason: str
) -> Admission:
    """Keep a decision with its reason, beside the result that it was made on."""
    why = reason.strip()
    if not why or "\0" in why or len(why) > LONGEST_REASON:
        raise InputError(
            "Say why, in at most {longest_reason:,} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    return Admission.objects.create(
        study=study,
        annotator=annotator,
        outcome=outcome,
        round=number,
        asked=newest.asked if newest else 0,
        right=newest.right if newest else 0,
        pass_mark=find_pass_mark(study),
        decided_by=by,
        reason=why,
    )
