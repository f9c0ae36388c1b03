"""What bob enters and does not, or too late, hand in."""

from __future__ import annotations

import pytest

from annotation.errors import InputError
from annotation.models import Annotation, Assignment, Draft, User
from annotation.services import annotations, assignments, drafts, studies
from tests.annotation.conftest import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


@pytest.fixture
def slot(open_study: OpenStudy, bob: User, charlie: User) -> Assignment:
    return assignments.next_for(by=bob, study=open_study([bob, charlie], items=1))


def test_windows_change_only_what_was_changed_in_them(slot: Assignment, bob: User) -> None:
    drafts.save(by=bob, assignment=slot, changes={"task_completion": "yes"}, active_seconds=3)
    kept = drafts.save(by=bob, assignment=slot, changes={"personalization": "2"}, active_seconds=0)
    assert kept.content == {"task_completion": "yes", "personalization": "2"}
    assert Draft.objects.count() == 1
    assert not Annotation.objects.exists()


def test_a_draft_ends_when_it_is_handed_in(slot: Assignment, bob: User) -> None:
    drafts.save(by=bob, assignment=slot, changes={"task_completion": "no"}, active_seconds=3)
    annotations.submit(by=bob, assignment=slot, values=GOOD, active_seconds=1e9)
    assert not Draft.objects.exists()
    slot.refresh_from_db()
    assert 0 <= slot.active_seconds < 60  # no more than has passed since it was handed out


def test_a_draft_has_a_largest_size(slot: Assignment, bob: User) -> None:
    with pytest.raises(InputError, match="200,000"):
        drafts.save(by=bob, assignment=slot, changes={"personalization-note": "x" * 200_001}, active_seconds=0)
    assert not Draft.objects.exists()


def late(slot: Assignment, bob: User, **changed: str) -> Draft:
    return drafts.keep_late(by=bob, assignment=slot, content=GOOD | changed, reason="too late")


def test_late_answers_take_a_free_slot(slot: Assignment, alice: User, bob: User) -> None:
    assignments.release(by=alice, study=slot.study, annotator=bob)
    used = drafts.use_late(by=alice, draft=late(slot, bob))
    assert (used.pk, used.state, used.annotator) == (slot.pk, "submitted", bob)
    assert set(Annotation.objects.values_list("value", flat=True)) == {"yes", "3"}
    with pytest.raises(InputError, match="already"):
        drafts.use_late(by=alice, draft=Draft.objects.get())


def test_late_answers_are_one_rating_more_where_no_slot_is_free(
    slot: Assignment, alice: User, bob: User, charlie: User
) -> None:
    assignments.release(by=alice, study=slot.study, annotator=bob)
    theirs = assignments.next_for(by=charlie, study=slot.study)
    annotations.submit(by=charlie, assignment=theirs, values=GOOD)
    used = drafts.use_late(by=alice, draft=late(theirs, bob))
    assert (used.slot, used.annotator) == (2, bob)
    assert Annotation.objects.count() == 4


def test_late_answers_for_a_closed_study_can_be_used(slot: Assignment, alice: User, bob: User) -> None:
    studies.close(by=alice, study=slot.study)
    used = drafts.use_late(by=alice, draft=late(slot, bob))
    assert (used.pk, used.state) == (slot.pk, "submitted")


def test_late_pairs_keep_the_response_that_was_meant(
    open_study: OpenStudy, alice: User, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=1, overlap=2, kind="pair")
    first, second = study.assignments.order_by("slot")
    assert first.order != second.order
    annotations.submit(by=charlie, assignment=assignments.next_for(by=charlie, study=study), values={"preference": "A"})
    draft = drafts.keep_late(by=bob, assignment=first, content={"preference": "A"}, reason="too late")
    used = drafts.use_late(by=alice, draft=draft)
    assert used.pk == second.pk
    assert Annotation.objects.get(assignment=used).value == first.response_for("A")


def test_late_answers_can_be_left_out(slot: Assignment, alice: User, bob: User) -> None:
    drafts.dismiss(by=alice, draft=late(slot, bob))
    kept = Draft.objects.get()
    assert (kept.state, kept.decided_by) == ("dismissed", alice)
    assert not Annotation.objects.exists()


def test_answers_that_do_not_fit_are_refused_and_stay(slot: Assignment, alice: User, bob: User) -> None:
    with pytest.raises(InputError):
        drafts.use_late(by=alice, draft=late(slot, bob, personalization="9"))
    assert Draft.objects.get().state == "late"


@pytest.mark.parametrize(
    "given",
    [
        "nonsense",
        "{}",
        '["x"]',
        '[{"part": "turn-9", "start": 0, "end": 1}]',
        '[{"part": "turn-1", "start": 3, "end": 3}]',
        '[{"part": "turn-1", "start": 0, "end": 999}]',
        '[{"part": "turn-1", "start": -1, "end": 2}]',
    ],
)
def test_marks_outside_the_item_are_refused(slot: Assignment, bob: User, given: str) -> None:
    with pytest.raises(InputError) as raised:
        annotations.submit(by=bob, assignment=slot, values=GOOD, evidence={"personalization": given})
    assert raised.value.field == "personalization"


def test_marks_keep_their_words_and_name_the_response(open_study: OpenStudy, bob: User) -> None:
    slot = assignments.next_for(by=bob, study=open_study([bob], kind="pair"))
    given = '[{"part": "B", "start": 0, "end": 2}, {"part": "question", "start": 0, "end": 4}]'
    annotations.submit(by=bob, assignment=slot, values={"preference": "B"}, evidence={"preference": given})
    response = slot.response_for("B")
    text = slot.shown_pair()["B"][:2]
    assert Annotation.objects.get().evidence == [
        {"part": "question", "start": 0, "end": 4, "text": "What"},
        {"part": f"response-{response}", "start": 0, "end": 2, "text": text},
    ]


@pytest.mark.parametrize(("given", "stored"), [("A:much", "much"), ("B:slightly", "slightly"), ("tie", "")])
def test_strength_stands_beside_the_preference(open_study: OpenStudy, bob: User, given: str, stored: str) -> None:
    study = open_study([bob], kind="pair", allow_tie=True, asks_strength=True)
    slot = assignments.next_for(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"preference": given})
    found = Annotation.objects.get()
    assert found.strength == stored
    assert found.value == ("tie" if given == "tie" else slot.response_for(given[0]))


@pytest.mark.parametrize("given", ["A", "A:very", "tie:much", ":much"])
def test_strength_is_asked_for_and_checked(open_study: OpenStudy, bob: User, given: str) -> None:
    study = open_study([bob], kind="pair", allow_tie=True, asks_strength=True)
    slot = assignments.next_for(by=bob, study=study)
    with pytest.raises(InputError):
        annotations.submit(by=bob, assignment=slot, values={"preference": given})
