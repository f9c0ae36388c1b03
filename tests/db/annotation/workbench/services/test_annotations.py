"""Bob hands in labels."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


@pytest.fixture
def slot(open_study: OpenStudy, bob: User) -> Assignment:
    return assignments.lease_next(by=bob, study=open_study([bob]))


def stored() -> dict[str, tuple[str, str, str]]:
    found = Annotation.objects.select_related("criterion")
    return {a.criterion.key: (a.value, a.unscored_reason, a.note) for a in found}


def test_a_label_per_criterion_is_stored(slot: Assignment, bob: User) -> None:
    annotations.submit(
        by=bob,
        assignment=slot,
        values={"task_completion": "no"},
        unscored={"personalization": " no preferences shown "},
        notes={"task_completion": " only promised "},
    )
    assert stored() == {
        "task_completion": ("no", "", "only promised"),
        "personalization": ("", "no preferences shown", ""),
    }
    slot.refresh_from_db()
    assert (slot.state, slot.leased_until) == ("submitted", None)
    assert slot.submitted_at is not None


def test_handing_in_again_replaces_and_keeps_the_first_time(slot: Assignment, bob: User) -> None:
    annotations.submit(by=bob, assignment=slot, values=GOOD, notes={"personalization": "hm"})
    first = Annotation.objects.get(criterion__key="personalization")
    slot.refresh_from_db()
    submitted_at = slot.submitted_at
    annotations.submit(by=bob, assignment=slot, values=GOOD | {"personalization": "4"})
    assert stored() == {"task_completion": ("yes", "", ""), "personalization": ("4", "", "")}
    again = Annotation.objects.get(pk=first.pk)
    assert again.created_at == first.created_at
    assert again.updated_at > first.updated_at
    slot.refresh_from_db()
    assert slot.submitted_at == submitted_at


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"values": {"task_completion": "yes"}}, "personalization"),
        ({"values": GOOD | {"personalization": "5"}}, "personalization"),
        ({"values": GOOD | {"task_completion": "A"}}, "task_completion"),
        ({"values": GOOD | {"charm": "1"}}, "charm"),
        ({"values": GOOD, "notes": {"charm": "none"}}, "charm"),
        ({"values": GOOD, "unscored": {"task_completion": "unclear"}}, "task_completion"),
        ({"values": {"task_completion": "yes"}, "unscored": {"personalization": "  "}}, "personalization"),
        ({"values": {"task_completion": "yes"}, "unscored": {"personalization": "x" * 201}}, "personalization"),
    ],
)
def test_bad_answers_name_their_criterion_and_store_nothing(
    slot: Assignment, bob: User, given: dict, field: str
) -> None:
    with pytest.raises(InputError) as raised:
        annotations.submit(by=bob, assignment=slot, **given)
    assert raised.value.field == field
    assert not Annotation.objects.exists()
    slot.refresh_from_db()
    assert slot.state == "leased"


def test_charlie_cannot_hand_in_bobs_item(slot: Assignment, charlie: User) -> None:
    with pytest.raises(annotations.NotTheirsError, match="not in your work"):
        annotations.submit(by=charlie, assignment=slot, values=GOOD)
    assert not Annotation.objects.exists()


def test_nothing_is_stored_in_a_closed_study(slot: Assignment, alice: User, bob: User) -> None:
    studies.close(by=alice, study=slot.study)
    with pytest.raises(annotations.NotTheirsError, match="closed"):
        annotations.submit(by=bob, assignment=slot, values=GOOD)
    assert not Annotation.objects.exists()


def test_an_expired_lease_still_counts_while_the_slot_is_theirs(slot: Assignment, bob: User) -> None:
    Assignment.objects.filter(pk=slot.pk).update(leased_until=timezone.now() - timedelta(hours=1))
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    assert Assignment.objects.get(pk=slot.pk).state == "submitted"


def test_a_skipped_item_can_be_handed_in(slot: Assignment, bob: User) -> None:
    assignments.skip(by=bob, assignment=slot)
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    assert Assignment.objects.get(pk=slot.pk).state == "submitted"


@pytest.mark.parametrize(
    ("order", "side", "value"),
    [("AB", "A", "1"), ("AB", "B", "2"), ("BA", "A", "2"), ("BA", "B", "1"), ("BA", "tie", "tie")],
)
def test_a_pairs_label_is_the_response_and_never_the_side(
    open_study: OpenStudy, bob: User, order: str, side: str, value: str
) -> None:
    slot = assignments.lease_next(by=bob, study=open_study([bob], kind="pair", allow_tie=True))
    slot.order = order
    annotations.submit(by=bob, assignment=slot, values={"preference": side})
    assert Annotation.objects.get().value == value


@pytest.mark.parametrize("given", ["1", "2", "tie", "C"])
def test_a_pair_is_answered_by_side_and_a_tie_only_where_offered(open_study: OpenStudy, bob: User, given: str) -> None:
    slot = assignments.lease_next(by=bob, study=open_study([bob], kind="pair"))
    with pytest.raises(InputError) as raised:
        annotations.submit(by=bob, assignment=slot, values={"preference": given})
    assert raised.value.field == "preference"


def test_a_pair_of_unknown_order_takes_no_side(open_study: OpenStudy, bob: User) -> None:
    slot = assignments.lease_next(by=bob, study=open_study([bob], kind="pair"))
    slot.order = ""
    with pytest.raises(InputError, match="not known"):
        annotations.submit(by=bob, assignment=slot, values={"preference": "A"})


def test_handing_in_takes_the_same_number_of_queries_for_any_number_of_criteria(
    open_study: OpenStudy, bob: User, django_assert_max_num_queries
) -> None:
    criteria = ["task_completion", "personalization", "naturalness_user", "coherence_user", "coherence_assistant"]
    slot = assignments.lease_next(by=bob, study=open_study([bob], criteria=criteria))
    values = dict.fromkeys(criteria, "2") | {"task_completion": "no"}
    with django_assert_max_num_queries(8):
        annotations.submit(by=bob, assignment=slot, values=values)
    assert Annotation.objects.count() == 5
