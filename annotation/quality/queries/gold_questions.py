"""Items with known answers, what annotators said of them, and who came through training and qualification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.utils.translation import gettext as _, gettext_noop

from annotation.quality.models import Admission, KnownAnswer, KnownItem
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.asks import Ask, is_preference, to_side
from core.accounts.models.users import User
from core.errors import InputError

TRAINING, QUALIFICATION = KnownItem.Purpose.TRAINING, KnownItem.Purpose.QUALIFICATION
SUBMITTED = Assignment.State.SUBMITTED


@dataclass(frozen=True)
class MarkedAnswer:
    """One answer beside the right one; `criterion` names the turn too, or the response by the side it was shown on.

    `said` and `expected` are labels of the scale, of a pair the sides as they were shown; `right` is None if unscored.
    """

    criterion: str
    said: str
    expected: str
    right: bool | None
    explanation: str


@dataclass(frozen=True)
class MarkedItem:
    """An item of training or qualification that somebody answered."""

    slot: Assignment
    answers: tuple[MarkedAnswer, ...]

    @property
    def all_right(self) -> bool:
        return all(one.right for one in self.answers)

    @property
    def is_explained(self) -> bool:
        return any(one.explanation for one in self.answers)


def load_before_work(study: Study, number: int = 1) -> QuerySet[KnownItem]:
    """What is given before the work in a round of this number: training first, then qualification, each in its order.

    A round that no items are named for asks those of the round before.
    """
    named = KnownItem.objects.filter(study=study, retired_at=None)
    qualifying = named.filter(purpose=QUALIFICATION, round__lte=number).order_by("-round")
    asked = Q(purpose=TRAINING) | Q(purpose=QUALIFICATION, round=Subquery(qualifying.values("round")[:1]))
    return named.filter(asked).order_by("-purpose", "position")


def load_study(study: Study) -> list[KnownItem]:
    """All that are handed out, with their answers and how often they were answered (`given`). Two queries."""
    answered = Count("assignments", filter=Q(assignments__state=SUBMITTED))
    rows = study.known_items.filter(retired_at=None).select_related("item__dialogue", "item__pair", "item__study")
    in_order = KnownAnswer.objects.select_related("criterion").order_by("turn", "criterion__position")
    answers = Prefetch("answers", in_order)
    return list(rows.annotate(given=answered).prefetch_related(answers).order_by("position"))


def find_gold_question(study: Study, item: str, purpose: str) -> KnownItem:
    """The study's item of this id, if need be of one purpose alone. Raises InputError unless there is exactly one."""
    rows = load_study(study)
    found = [one for one in rows if one.item.external_id == item and purpose in ("", one.purpose)]
    if len(found) != 1:
        says = gettext_noop("{item} has no known answer.")
        if found:
            says = gettext_noop("{item} is known for several purposes: name one.")
        raise InputError(says, field="item", item=item)
    return found[0]


def place(slot: Assignment) -> tuple[int, int]:
    """The place of a slot of training or qualification among its round's items, and of how many."""
    of_round = load_before_work(slot.study, slot.round).filter(purpose=slot.purpose)
    positions = list(of_round.values_list("position", flat=True))
    return sum(one <= slot.rank for one in positions), len(positions)


def is_through(annotator: User, study: Study) -> bool:
    """Whether they may rate: they passed or were let through, or rated before it was asked, or nothing is asked."""
    newest = study.admissions.filter(annotator=annotator).order_by("-created_at", "-pk")
    rated = Assignment.objects.filter(
        study=OuterRef("pk"), annotator=annotator, state=SUBMITTED, purpose=Assignment.Purpose.RATING
    )
    asked = load_before_work(study).filter(study=OuterRef("pk")).order_by()
    outcome = Subquery(newest.values("outcome")[:1])
    found = Study.objects.filter(pk=study.pk).values_list(outcome, Exists(rated), Exists(asked)).get()
    return found[0] in (Admission.Outcome.PASSED, Admission.Outcome.ADMITTED) or found[1] or not found[2]


def admission(annotator: User, study: Study) -> Admission | None:
    """How they came through, or that they may try again; None before the end of their first round."""
    return study.admissions.filter(annotator=annotator).order_by("-created_at", "-pk").first()


def load_outcomes(annotator: User) -> dict[int, str]:
    """By study's id, the newest outcome of their qualification there: the word for it in `Admission`. One query."""
    rows = annotator.admissions.order_by("created_at", "pk")
    return dict(rows.values_list("study_id", "outcome"))


def admissions(study: Study) -> list[Admission]:
    """The newest of each annotator, by name."""
    rows = study.admissions.select_related("annotator", "decided_by").order_by("created_at", "pk")
    newest = {one.annotator_id: one for one in rows}
    return sorted(newest.values(), key=lambda one: str(one.annotator))


def earlier(study: Study, newest: list[Admission]) -> list[Admission]:
    """What held before the newest of each annotator, the latest first: nothing of it is lost."""
    before = study.admissions.exclude(pk__in=[one.pk for one in newest]).select_related("annotator", "decided_by")
    return list(before.order_by("-created_at", "-pk"))


def find_unanswered(annotator: User, study: Study, number: int = 1) -> KnownItem | None:
    """What comes next for them in this round before the work. Training is given once."""
    given = Assignment.objects.filter(
        study=study, item=OuterRef("item"), purpose=OuterRef("purpose"), annotator=annotator
    ).filter(Q(purpose=TRAINING) | Q(round=number))
    return load_before_work(study, number).filter(~Exists(given)).first()


def load_round(annotator: User, study: Study, purpose: str, number: int = 1) -> list[MarkedItem]:
    """Their answers of training or of a round beside the right ones, in the order of the items. Three queries."""
    slots = study.assignments.filter(
        annotator=annotator, purpose=purpose, round=number, state=SUBMITTED, known__retired_at=None
    ).select_related("known", "item__dialogue", "item__pair")
    return list_marked_items(slots.order_by("known__position"))


def list_marked_items(slots: QuerySet[Assignment]) -> list[MarkedItem]:
    answers = Prefetch(
        "known__answers", KnownAnswer.objects.select_related("criterion").order_by("turn", "criterion__position")
    )
    return [
        MarkedItem(slot, tuple(mark_answers(slot, slot.known.answers.all())) if slot.known else ())
        for slot in slots.prefetch_related(answers, "annotations")
    ]


def label_shown(slot: Assignment, criterion: Criterion, value: str) -> str:
    """What the page called a value: a response of a pair by its side."""
    side = to_side(slot, value) if is_preference(slot.study, criterion) else value
    return side if side != value else criterion.label_of(value)


def build_ask(slot: Assignment, answer: KnownAnswer) -> Ask:
    """What it is the answer to, as the page asked for it."""
    side = to_side(slot, str(answer.turn)) if answer.criterion.of_responses else ""
    return Ask(answer.criterion, answer.turn, side)


def mark_answers(slot: Assignment, expected: Iterable[KnownAnswer]) -> Iterable[MarkedAnswer]:
    """Pair each gold answer with what the annotator said, in the words of the page that they saw."""
    by_ask = {(one.criterion_id, one.turn): one for one in slot.annotations.all()}
    for answer in expected:
        given = by_ask.get((answer.criterion_id, answer.turn))
        value = given.value if given else ""
        yield MarkedAnswer(
            criterion=build_ask(slot, answer).title,
            said=label_shown(slot, answer.criterion, value) if value else _("cannot judge"),
            expected=_(" or ").join(label_shown(slot, answer.criterion, one) for one in (answer.value, *answer.also)),
            right=answer.accepts(value) if value else None,
            explanation=answer.explanation,
        )
