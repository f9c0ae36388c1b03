"""Bob and charlie take items from the queue."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import UserFactory
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


def rate_next(by: User, study: Study) -> Assignment | None:
    slot = assignments.lease_next(by=by, study=study)
    if slot:
        annotations.submit(by=by, assignment=slot, values=GOOD)
    return slot


def expire(slot: Assignment) -> None:
    Assignment.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_items_come_in_the_studys_order_and_end(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=3, overlap=2)
    assert [rate_next(bob, study).rank for _ in range(3)] == [1, 2, 3]
    assert assignments.lease_next(by=bob, study=study) is None
    assert study.assignments.filter(state="open").count() == 3


def test_asking_twice_gives_the_same_item_and_a_new_lease(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob])
    slot = assignments.lease_next(by=bob, study=study)
    expire(slot)
    again = assignments.lease_next(by=bob, study=study)
    assert again == slot
    again.refresh_from_db()
    assert again.leased_until - timezone.now() > timedelta(minutes=14)
    assert again.started_at == slot.started_at


def test_two_people_get_slots_of_the_same_item_while_there_are_some(
    open_study: OpenStudy, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=2, overlap=2)
    first, second = (assignments.lease_next(by=person, study=study) for person in (bob, charlie))
    assert first.item == second.item
    assert (first.slot, second.slot) == (1, 2)


def test_with_overlap_one_nobody_gets_what_another_has(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=1)
    assert assignments.lease_next(by=bob, study=study)
    assert assignments.lease_next(by=charlie, study=study) is None


def test_an_expired_lease_passes_on_when_nothing_else_is_left(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=2)
    bobs = assignments.lease_next(by=bob, study=study)
    expire(bobs)
    assert rate_next(charlie, study).rank == 2
    taken = assignments.lease_next(by=charlie, study=study)
    assert taken == bobs
    assert taken.annotator == charlie
    assert assignments.lease_next(by=bob, study=study) is None


def test_an_expired_lease_of_an_item_one_holds_is_left_alone(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=1, overlap=2)
    bobs = assignments.lease_next(by=bob, study=study)
    expire(bobs)
    assert rate_next(charlie, study).slot == 2
    assert assignments.lease_next(by=charlie, study=study) is None
    bobs.refresh_from_db()
    assert bobs.annotator == bob


def test_skipped_items_come_back_in_turn_after_all_others(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=4)
    for _ in range(2):
        assignments.skip(by=bob, assignment=assignments.lease_next(by=bob, study=study))
    assert [rate_next(bob, study).rank for _ in range(2)] == [3, 4]
    seen = []
    for _ in range(4):
        slot = assignments.lease_next(by=bob, study=study)
        seen.append(slot.rank)
        assignments.skip(by=bob, assignment=slot)
    assert seen == [1, 2, 1, 2]


def test_only_ones_own_item_in_work_can_be_skipped(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie])
    slot = assignments.lease_next(by=bob, study=study)
    with pytest.raises(InputError):
        assignments.skip(by=charlie, assignment=slot)
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    with pytest.raises(InputError):
        assignments.skip(by=bob, assignment=slot)


def test_what_an_annotator_leaves_behind_can_be_given_to_others(
    open_study: OpenStudy, alice: User, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=3)
    done = rate_next(bob, study)
    assignments.skip(by=bob, assignment=assignments.lease_next(by=bob, study=study))
    assignments.lease_next(by=bob, study=study)
    assert assignments.release(by=alice, study=study, annotator=bob) == 2
    done.refresh_from_db()
    assert (done.state, done.annotator) == ("submitted", bob)
    assert [rate_next(charlie, study).rank for _ in range(2)] == [2, 3]


def test_a_study_hands_out_items_only_while_it_is_open(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    studies.close(by=alice, study=study)
    with pytest.raises(InputError, match="closed"):
        assignments.lease_next(by=bob, study=study)


def test_a_study_hands_out_items_only_to_its_annotators(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob])
    with pytest.raises(InputError) as raised:
        assignments.lease_next(by=charlie, study=study)
    assert raised.value.field == "annotator"


def test_a_second_window_does_not_get_a_second_slot_of_an_item(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=1, overlap=2)
    first, second = study.assignments.order_by("slot")
    assert assignments.claim(bob, first, order="")
    assert not assignments.claim(bob, second, order="")
    second.refresh_from_db()
    assert second.state == "open"


@pytest.mark.any_database
def test_the_number_of_queries_does_not_grow(open_study: OpenStudy, bob: User, django_assert_max_num_queries) -> None:
    study = open_study([bob], items=30, overlap=2)
    for _ in range(20):
        rate_next(bob, study)
    with django_assert_max_num_queries(4):  # two of them the savepoint that a test's transaction needs
        assert assignments.lease_next(by=bob, study=study).rank == 21


def test_the_page_may_hold_items_and_gets_the_ones_after_them(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=3)
    first = assignments.lease_next(by=bob, study=study)
    second = assignments.lease_next(by=bob, study=study, holding=[first.pk])
    third = assignments.lease_next(by=bob, study=study, holding=[first.pk, second.pk])
    assert [first.rank, second.rank, third.rank] == [1, 2, 3]
    assert assignments.lease_next(by=bob, study=study, holding=[first.pk, second.pk, third.pk]) is None
    assert assignments.lease_next(by=bob, study=study) == first


def test_an_item_kept_ready_can_be_put_back_unless_there_is_work_on_it(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=2)
    first = assignments.lease_next(by=bob, study=study)
    second = assignments.lease_next(by=bob, study=study, holding=[first.pk])
    drafts.save(by=bob, assignment=first, changes={"personalization": "2"}, active_seconds=0)
    assert not assignments.put_back(by=bob, assignment=first)
    assert assignments.put_back(by=bob, assignment=second)
    assert list(study.assignments.order_by("rank").values_list("state", flat=True)) == ["leased", "open"]


def test_what_was_given_back_behind_ones_place_is_found_in_the_end(
    open_study: OpenStudy, alice: User, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=4)
    assignments.lease_next(by=charlie, study=study)
    assert rate_next(bob, study).rank == 2
    assignments.release(by=alice, study=study, annotator=charlie)
    assert [rate_next(bob, study).rank for _ in range(3)] == [3, 4, 1]
    assert assignments.lease_next(by=bob, study=study) is None


def test_simulated_annotators_use_the_same_queue(open_study: OpenStudy) -> None:
    robot = UserFactory(kind=User.Kind.SIMULATED)
    assert rate_next(robot, open_study([robot])).annotator == robot
