"""What bob enters and does not, or too late, hand in."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connections, transaction
from django.utils import timezone

from annotation.recruitment.services import consents
from annotation.stats.queueing import draw_order
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments, drafts
from annotation.workbench.views.work import sign_proof
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


@pytest.fixture
def slot(open_study: OpenStudy, bob: User, charlie: User) -> Assignment:
    return assignments.lease_next(by=bob, study=open_study([bob, charlie], items=1))


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
    theirs = assignments.lease_next(by=charlie, study=slot.study)
    annotations.submit(by=charlie, assignment=theirs, values=GOOD)
    used = drafts.use_late(by=alice, draft=late(theirs, bob))
    assert (used.slot, used.annotator) == (2, bob)
    assert Annotation.objects.count() == 4


def test_late_answers_for_a_closed_study_can_be_used(slot: Assignment, alice: User, bob: User) -> None:
    studies.close(by=alice, study=slot.study)
    used = drafts.use_late(by=alice, draft=late(slot, bob))
    assert (used.pk, used.state) == (slot.pk, "submitted")


@pytest.fixture
def shown_otherwise(open_study: OpenStudy, bob: User, charlie: User) -> tuple[Study, Assignment, str]:
    """A pair that bob was shown in one order, and that charlie, who has it now, sees in the other; bob's is told."""
    seed = next(n for n in range(99) if draw_order(n, "bob", 1) != draw_order(n, "charlie", 1))
    study = open_study([bob, charlie], items=1, overlap=1, kind="pair", seed=seed)
    mine = assignments.lease_next(by=bob, study=study)
    drafts.save(by=bob, assignment=mine, changes={"preference-note": "so far"}, active_seconds=1)
    Assignment.objects.update(leased_until=timezone.now() - timedelta(hours=1))
    theirs = assignments.lease_next(by=charlie, study=study)
    assert (theirs.pk, theirs.order) == (mine.pk, {"AB": "BA", "BA": "AB"}[mine.order])
    return study, theirs, mine.order


def test_late_pairs_keep_the_response_that_was_meant(shown_otherwise, alice: User, bob: User, charlie: User) -> None:
    study, theirs, order = shown_otherwise
    annotations.submit(by=charlie, assignment=theirs, values={"preference": "A"})
    seen = Assignment(pk=theirs.pk, study=study, item_id=theirs.item_id, order=order)  # as the proof of his page says
    draft = drafts.keep_late(by=bob, assignment=seen, content={"preference": "A"}, reason="too late")
    used = drafts.use_late(by=alice, draft=Draft.objects.get(pk=draft.pk))
    assert (used.slot, used.order) == (2, order)
    assert Annotation.objects.get(assignment=used).value == seen.sides["A"]
    assert Annotation.objects.get(assignment=theirs).value != seen.sides["A"]


def test_who_gets_a_pair_back_sees_the_sides_of_the_draft(shown_otherwise, bob: User, charlie: User) -> None:
    study, theirs, order = shown_otherwise
    assignments.release(by=None, study=study, annotator=charlie)
    again = assignments.lease_next(by=bob, study=study)
    assert (again.pk, again.order) == (theirs.pk, order)


def test_a_page_that_comes_late_takes_a_free_pair_with_the_sides_that_it_showed(
    shown_otherwise, client, bob: User, charlie: User
) -> None:
    study, theirs, order = shown_otherwise
    shown = Assignment(pk=theirs.pk, order=order)
    assignments.release(by=None, study=study, annotator=charlie)
    client.force_login(bob)
    answer = client.post(
        f"/work/items/{theirs.pk}/save/", {"preference": "A", "seen": sign_proof(shown, bob), "active": "2"}
    )
    assert answer.status_code == 200
    assert Annotation.objects.get().value == shown.sides["A"]
    assert Assignment.objects.get().order == order


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
    slot = assignments.lease_next(by=bob, study=open_study([bob], kind="pair"))
    given = '[{"part": "B", "start": 0, "end": 2}, {"part": "question", "start": 0, "end": 4}]'
    annotations.submit(by=bob, assignment=slot, values={"preference": "B"}, evidence={"preference": given})
    response = slot.sides["B"]
    text = slot.build_shown_responses()["B"][:2]
    assert Annotation.objects.get().evidence == [
        {"part": "question", "start": 0, "end": 4, "text": "What"},
        {"part": f"response-{response}", "start": 0, "end": 2, "text": text},
    ]


@pytest.mark.parametrize(("given", "stored"), [("A:much", "much"), ("B:slightly", "slightly"), ("tie", "")])
def test_strength_stands_beside_the_preference(open_study: OpenStudy, bob: User, given: str, stored: str) -> None:
    study = open_study([bob], kind="pair", allow_tie=True, asks_strength=True)
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"preference": given})
    found = Annotation.objects.get()
    assert found.strength == stored
    assert found.value == ("tie" if given == "tie" else slot.sides[given[0]])


@pytest.mark.parametrize("given", ["A", "A:very", "tie:much", ":much"])
def test_strength_is_asked_for_and_checked(open_study: OpenStudy, bob: User, given: str) -> None:
    study = open_study([bob], kind="pair", allow_tie=True, asks_strength=True)
    slot = assignments.lease_next(by=bob, study=study)
    with pytest.raises(InputError):
        annotations.submit(by=bob, assignment=slot, values={"preference": given})


def test_a_draft_that_was_overtaken_is_not_kept(slot: Assignment, bob: User) -> None:
    """It was read while the item was in work; when it is to be stored, the item has been handed in."""
    annotations.submit(by=bob, assignment=Assignment.objects.get(pk=slot.pk), values=GOOD)
    with pytest.raises(drafts.OvertakenError):
        drafts.save(by=bob, assignment=slot, changes={"personalization": "2"}, active_seconds=0)
    assert not Draft.objects.exists()


def test_a_draft_after_withdrawing_is_not_kept(slot: Assignment, bob: User) -> None:
    consents.withdraw(by=bob, study=slot.study, annotator=bob)
    with pytest.raises(drafts.WithdrawnError):
        drafts.save(by=bob, assignment=slot, changes={"personalization": "2"}, active_seconds=0)
    with pytest.raises(drafts.WithdrawnError):
        late(slot, bob)
    assert not Draft.objects.exists()


def test_a_draft_that_arrives_while_the_item_is_handed_in_does_not_outlive_it(
    transactional_db: None, open_study: OpenStudy, bob: User
) -> None:
    """It holds the slot when the labels arrive, and is stored before them."""
    slot = assignments.lease_next(by=bob, study=open_study([bob], items=1))
    together = Barrier(2, timeout=30)

    def slowly(slot: Assignment, bob: User) -> None:
        with transaction.atomic():
            send_draft(slot, bob)
            together.wait()
            time.sleep(0.3)

    def hand_in(slot: Assignment, bob: User) -> None:
        together.wait()
        annotations.submit(by=bob, assignment=slot, values=GOOD)

    with ThreadPoolExecutor(2) as pool:
        for one in [pool.submit(at_once, Barrier(1), act, slot, bob) for act in (slowly, hand_in)]:
            assert one.result() == ""
    assert Annotation.objects.count() == 2
    assert not Draft.objects.exists()


def test_a_draft_grows_to_the_largest_size_and_no_further(slot: Assignment, bob: User) -> None:
    """However many characters of markup the database needs beside what was entered."""
    for name in ("personalization-note", "task_completion-note"):
        kept = drafts.save(by=bob, assignment=slot, changes={name: "x" * 100_000}, active_seconds=0)
    assert sum(map(len, kept.content.values())) == drafts.LONGEST
    with pytest.raises(InputError, match="200,000"):
        drafts.save(by=bob, assignment=slot, changes={"task_completion": "yes"}, active_seconds=0)
    assert Draft.objects.get().content == kept.content


def test_a_draft_keeps_any_text(slot: Assignment, bob: User) -> None:
    note = 'null "quoted" \\ back, {"a": null}, \u2028 and 🙂'
    kept = drafts.save(by=bob, assignment=slot, changes={"personalization-note": note}, active_seconds=2)
    kept = drafts.save(by=bob, assignment=slot, changes={"task_completion": "yes"}, active_seconds=1)
    assert kept.content == Draft.objects.get().content == {"personalization-note": note, "task_completion": "yes"}


def test_a_draft_is_kept_by_one_statement(slot: Assignment, bob: User, django_assert_num_queries) -> None:
    for text in ("yes", "no"):
        with django_assert_num_queries(1):
            drafts.save(by=bob, assignment=slot, changes={"task_completion": text}, active_seconds=0)


@pytest.mark.long
@pytest.mark.parametrize("is_theirs", [True, False])
def test_a_draft_saved_while_somebody_withdraws_does_not_survive(
    transactional_db: None, open_study: OpenStudy, alice: User, bob: User, is_theirs: bool
) -> None:
    """Whichever comes first: ten rounds of both at the same moment, with a slot that is theirs or was."""
    study = open_study([bob], items=1, overlap=1)
    for _ in range(10):
        study.annotators.add(bob)
        slot = assignments.lease_next(by=bob, study=study)
        if not is_theirs:
            assignments.release(by=alice, study=study, annotator=bob)
        together = Barrier(2, timeout=30)
        with ThreadPoolExecutor(2) as pool:
            found = [pool.submit(at_once, together, act, slot, bob) for act in (send_draft, withdraw)]
        assert [one.result() for one in found][1] == ""
        assert not Draft.objects.exists()
        assert not study.assignments.exclude(annotator=None).exists()


def at_once(together: Barrier, act: Callable[[Assignment, User], object], slot: Assignment, bob: User) -> str:
    """What went wrong, if something did that may."""
    try:
        together.wait()
        act(slot, bob)
    except drafts.WithdrawnError as error:
        return error.message
    finally:
        connections.close_all()
    return ""


def send_draft(slot: Assignment, bob: User) -> object:
    return drafts.save(by=bob, assignment=slot, changes={"personalization": "2"}, active_seconds=0)


def withdraw(slot: Assignment, bob: User) -> object:
    return consents.withdraw(by=bob, study=slot.study, annotator=bob)
