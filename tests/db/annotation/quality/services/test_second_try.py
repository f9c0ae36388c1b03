"""Bob did not pass; alice lets him try once more, and that is on record."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.quality.models import Admission, KnownItem
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import gold_questions, qualification
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.recruitment.services import consents
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import DialogueFactory, ResponsePairFactory
from tests.support.people import OpenStudy

RIGHT = {"task_completion": "yes", "personalization": "1"}
WRONG = {"task_completion": "no", "personalization": "3"}
WHY = "Misread the scale; we talked it through."


def name(study: Study, count: int, *, purpose: str = "qualification", number: int = 1) -> list[KnownItem]:
    answers = {key: GoldAnswer(value) for key, value in RIGHT.items()}
    entries = [GoldEntry(one.external_id, answers) for one in DialogueFactory.create_batch(count)]
    return gold_questions.add(by=None, study=study, purpose=purpose, entries=entries, origin="stated", number=number)


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    """A training item, then two qualification items of two criteria each."""
    made = open_study([bob], items=3)
    name(made, 1, purpose="training")
    name(made, 2)
    made.refresh_from_db()
    return made


def answer(study: Study, bob: User, *rows: dict[str, str]) -> list[Assignment]:
    """Answer so many items, and say which they were."""
    given = []
    for values in rows:
        given.append(assignments.lease_next(by=bob, study=study))
        annotations.submit(by=bob, assignment=given[-1], values=values)
    return given


@pytest.fixture
def failed(study: Study, bob: User) -> Study:
    answer(study, bob, RIGHT, WRONG, WRONG)
    assert assignments.lease_next(by=bob, study=study) is None
    return study


def test_the_share_that_was_asked_for_is_enough():
    """14 of 25 is .56, though 0.56 * 25 is a little more; so it is for 27 pairs of percents and up to 200 items."""
    exact = [
        (percent * n // 100, n, percent / 100)
        for n in range(1, 201)
        for percent in range(1, 101)
        if percent * n % 100 == 0
    ]
    assert sum(right < mark * n for right, n, mark in exact) == 27
    assert [one for one in exact if not qualification.has_passed(*one)] == []
    assert [(right, n) for right, n, mark in exact if qualification.has_passed(right - 1, n, mark)] == []


def test_the_same_items_are_asked_again_without_the_training(failed: Study, alice: User, bob: User) -> None:
    first = list(failed.assignments.filter(purpose="qualification").order_by("rank").values_list("item", flat=True))
    made = qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    assert (made.outcome, made.round, made.decided_by, made.right, made.asked) == ("again", 2, alice, 0, 4)
    given = answer(failed, bob, RIGHT, RIGHT)
    assert [slot.item_id for slot in given] == first
    assert [(slot.round, queries.place(slot)) for slot in given] == [(2, (1, 2)), (2, (2, 2))]
    assert assignments.lease_next(by=bob, study=failed).purpose == "rating"
    assert [(one.outcome, one.round, one.right) for one in failed.admissions.order_by("pk")] == [
        ("failed", 1, 0),
        ("again", 2, 0),
        ("passed", 2, 4),
    ]
    assert all(item.all_right for item in queries.load_round(bob, failed, "qualification", 2))
    assert not any(item.all_right for item in queries.load_round(bob, failed, "qualification", 1)), "and stay as said"


def test_a_round_with_items_of_its_own_asks_those(failed: Study, alice: User, bob: User) -> None:
    others = name(failed, 1, number=2)
    qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    (slot,) = answer(failed, bob, WRONG)
    assert slot.known == others[0]
    assert assignments.lease_next(by=bob, study=failed) is None
    assert (queries.admission(bob, failed).outcome, queries.admission(bob, failed).asked) == ("failed", 2)
    qualification.try_again(by=alice, study=failed, annotator=bob, reason="A last time.")
    (slot,) = answer(failed, bob, RIGHT)
    assert (slot.known, slot.round) == (others[0], 3), "round 3 has none: the ones of round 2"
    assert assignments.lease_next(by=bob, study=failed).purpose == "rating"


def test_the_first_round_does_not_ask_what_is_kept_for_the_second(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob])
    name(study, 1)
    name(study, 2, number=2)
    study.refresh_from_db()
    answer(study, bob, RIGHT)
    assert assignments.lease_next(by=bob, study=study).purpose == "rating"


@pytest.mark.any_database
def test_only_who_did_not_pass_tries_again_and_a_reason_is_needed(study: Study, alice: User, bob: User) -> None:
    with pytest.raises(InputError, match="has not come to the end"):
        qualification.try_again(by=alice, study=study, annotator=bob, reason=WHY)
    answer(study, bob, RIGHT, WRONG, WRONG)
    qualification.conclude(by=bob, study=study)
    with pytest.raises(InputError) as raised:
        qualification.try_again(by=alice, study=study, annotator=bob, reason=" ")
    assert raised.value.field == "reason"
    qualification.try_again(by=alice, study=study, annotator=bob, reason=WHY)
    with pytest.raises(InputError, match="may try again already"):
        qualification.try_again(by=alice, study=study, annotator=bob, reason=WHY)
    answer(study, bob, RIGHT, RIGHT)
    qualification.conclude(by=bob, study=study)
    with pytest.raises(InputError, match="may rate already"):
        qualification.try_again(by=alice, study=study, annotator=bob, reason=WHY)


@pytest.mark.any_database
def test_who_is_in_a_second_round_can_still_be_let_through(failed: Study, alice: User, bob: User) -> None:
    qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    assignments.lease_next(by=bob, study=failed)
    qualification.let_through(by=alice, study=failed, annotator=bob, reason="Enough.")
    assert assignments.lease_next(by=bob, study=failed).purpose == "rating"


def test_the_database_keeps_the_rounds_apart(failed: Study, alice: User, bob: User) -> None:
    row = {"study": failed, "annotator": bob, "pass_mark": 0.8}
    decision = {**row, "decided_by": alice, "reason": "x"}
    qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    for wrong in (
        {**row, "outcome": "failed", "round": 1},  # a second result of the same round
        {**decision, "outcome": "again", "round": 2},  # the same round opened twice
        {**decision, "outcome": "again", "round": 1},  # the first one needs no decision
        {**row, "outcome": "again", "round": 3},  # by nobody
        {**row, "outcome": "failed", "round": 0},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Admission.objects.create(**wrong)
    slot = failed.assignments.filter(purpose="qualification").first()
    for changed in ({"round": 0}, {"round": 2, "purpose": "training"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.filter(pk=slot.pk).update(**changed)
    twice = {"study": failed, "item": slot.item, "known": slot.known, "purpose": "qualification", "annotator": bob}
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            **twice, slot=1, rank=1, state="submitted", submitted_at=slot.submitted_at, round=slot.round
        )
    with pytest.raises(IntegrityError), transaction.atomic():
        KnownItem.objects.filter(purpose="training").update(round=2)


@pytest.mark.parametrize(("purpose", "number"), [("training", 2), ("check", 2), ("qualification", 0)])
def test_only_the_qualification_has_rounds(study: Study, purpose: str, number: int) -> None:
    with pytest.raises(InputError) as raised:
        name(study, 1, purpose=purpose, number=number)
    assert raised.value.field == "round"


def test_an_item_is_asked_in_one_round(study: Study) -> None:
    there = study.known_items.filter(purpose="qualification").first()
    entry = GoldEntry(there.item.external_id, {key: GoldAnswer(value) for key, value in RIGHT.items()})
    with pytest.raises(InputError, match="is asked in round 1; retire it there first"):
        gold_questions.add(by=None, study=study, purpose="qualification", entries=[entry], origin="stated", number=2)


@pytest.mark.any_database
@pytest.mark.long
def test_the_sides_of_a_pair_are_drawn_anew(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], kind="pair")
    entries = [
        GoldEntry(one.external_id, {"preference": GoldAnswer("1")}) for one in ResponsePairFactory.create_batch(12)
    ]
    gold_questions.add(by=None, study=study, purpose="qualification", entries=entries, origin="stated")
    study.refresh_from_db()
    orders: dict[int, list[str]] = {1: [], 2: []}
    for number in orders:
        for _ in entries:
            slot = assignments.lease_next(by=bob, study=study)
            orders[number].append(slot.order)
            wrong = next(side for side in "AB" if slot.sides[side] == "2")
            annotations.submit(by=bob, assignment=slot, values={"preference": wrong})
        qualification.conclude(by=bob, study=study)
        if number == 1:
            qualification.try_again(by=alice, study=study, annotator=bob, reason=WHY)
    assert orders[1] != orders[2]
    assert queries.admission(bob, study).right == 0


def test_a_second_round_costs_a_constant_number_of_queries(
    failed: Study, alice: User, bob: User, django_assert_max_num_queries
) -> None:
    qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    for _ in range(2):
        with django_assert_max_num_queries(16):
            slot = assignments.lease_next(by=bob, study=failed)
        annotations.submit(by=bob, assignment=slot, values=RIGHT)


def test_who_withdraws_leaves_no_round_behind(failed: Study, alice: User, bob: User) -> None:
    qualification.try_again(by=alice, study=failed, annotator=bob, reason=WHY)
    consents.withdraw(by=None, study=failed, annotator=bob)
    assert not failed.admissions.exists()
    assert not failed.assignments.filter(annotator=bob).exists()
