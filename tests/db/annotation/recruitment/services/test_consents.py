"""Bob agrees, declines, and withdraws."""

from __future__ import annotations

import pytest

from annotation.quality.queries import quality
from annotation.recruitment.models import ConsentDecision, Participation
from annotation.recruitment.queries import find_intake, has_withdrawn, text_owed
from annotation.recruitment.services import consents, enrolment
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}
TEXT = "You rate dialogues for research.\r\nYou can stop at any time."


def rate(study: Study, person: User, values: dict = GOOD) -> Assignment:
    slot = assignments.lease_next(by=person, study=study)
    assert slot
    annotations.submit(by=person, assignment=slot, values=values, notes={"personalization": "she likes Thai"})
    return slot


def agree(study: Study, person: User) -> ConsentDecision:
    text = find_intake(study).consent_text
    return consents.decide(by=person, study=study, text_hash=text.content_hash, agrees=True)


def test_no_item_before_consent(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    consents.set_text(by=alice, study=study, text=TEXT)
    with pytest.raises(assignments.ConsentNeededError):
        assignments.lease_next(by=bob, study=study)
    text = text_owed(study, bob)
    consents.decide(by=bob, study=study, text_hash=text.content_hash, agrees=False)
    with pytest.raises(assignments.ConsentNeededError):
        assignments.lease_next(by=bob, study=study)
    agree(study, bob)
    assert assignments.lease_next(by=bob, study=study)
    assert list(study.consent_decisions.order_by("pk").values_list("decision", flat=True)) == ["declined", "agreed"]


def test_a_changed_text_is_asked_anew_and_an_unchanged_one_is_not(
    open_study: OpenStudy, alice: User, bob: User
) -> None:
    study = open_study([bob])
    first = consents.set_text(by=alice, study=study, text=TEXT)
    agree(study, bob)
    assert consents.set_text(by=alice, study=study, text=TEXT.replace("\r\n", "\n") + " ") == first
    assert text_owed(study, bob) is None
    second = consents.set_text(by=alice, study=study, text="Another text.")
    assert text_owed(study, bob) == second
    with pytest.raises(InputError, match="has changed"):
        consents.decide(by=bob, study=study, text_hash=first.content_hash, agrees=True)
    consents.set_text(by=alice, study=study, text=TEXT)
    assert text_owed(study, bob) is None  # the first version holds again, and he agreed to that
    consents.set_text(by=alice, study=study, text="")
    assert find_intake(study).consent_text is None
    assert study.consent_texts.count() == 2


def test_only_an_annotator_of_the_study_decides(open_study: OpenStudy, alice: User, bob: User, charlie: User) -> None:
    study = open_study([bob])
    text = consents.set_text(by=alice, study=study, text=TEXT)
    with pytest.raises(InputError, match="not an annotator"):
        consents.decide(by=charlie, study=study, text_hash=text.content_hash, agrees=True)


def test_withdrawal_erases_what_bob_gave_and_nothing_of_charlie(
    open_study: OpenStudy, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=3, overlap=2)
    for person in (bob, charlie):
        rate(study, person)
    begun = assignments.lease_next(by=bob, study=study)
    drafts.save(by=bob, assignment=begun, changes={"personalization": "2"}, active_seconds=1)
    Participation.objects.create(
        study=study, annotator=bob, platform="prolific", platform_key="k", visits=[{"person": "60aa"}]
    )

    done = consents.withdraw(by=bob, study=study, annotator=bob)

    assert (done.decision, done.erased, done.recorded_by) == ("withdrawn", 2, bob)
    assert not Annotation.objects.filter(assignment__annotator=bob).exists()
    assert not Draft.objects.exists()
    assert not Assignment.objects.filter(annotator=bob).exists()
    assert Annotation.objects.count() == 2  # charlie's
    part = Participation.objects.get()
    assert (part.visits, part.platform_key) == ([], "k")
    assert has_withdrawn(study, bob)
    open_slots = study.assignments.filter(state="open")
    assert open_slots.count() == 5
    assert not open_slots.exclude(submitted_at=None, started_at=None, active_seconds=None).exists()
    assert [one.table.raters for one in ratings.load_study(study)] == [("charlie",)] * 2
    assert [row.annotator for row in quality.load_study(study, bootstrap=10)] == ["charlie"]


def test_others_can_rate_what_bob_gave_up(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=1, overlap=1)
    rate(study, bob)
    assert assignments.lease_next(by=charlie, study=study) is None
    consents.withdraw(by=None, study=study, annotator=bob)
    rate(study, charlie)
    assert study.assignments.filter(state="submitted").count() == 1


def test_a_slot_beyond_the_overlap_goes_with_him(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=1, overlap=1)
    slot = rate(study, bob)
    Assignment.objects.filter(pk=slot.pk).update(slot=2)
    Assignment.objects.create(study=study, item=slot.item, slot=1, rank=1)
    consents.withdraw(by=bob, study=study, annotator=bob)
    assert list(study.assignments.values_list("slot", "state")) == [(1, "open")]


def test_after_closing_and_twice(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    rate(study, bob)
    studies.close(by=alice, study=study)
    assert consents.withdraw(by=bob, study=study, annotator=bob).erased == 2
    with pytest.raises(InputError, match="no part"):
        consents.withdraw(by=bob, study=study, annotator=bob)


def test_who_withdrew_comes_back_only_by_a_researcher_and_is_asked_again(
    open_study: OpenStudy, alice: User, bob: User
) -> None:
    study = open_study([bob])
    consents.set_text(by=alice, study=study, text=TEXT)
    agree(study, bob)
    consents.withdraw(by=bob, study=study, annotator=bob)
    with pytest.raises(InputError, match="withdrawn"):
        enrolment.join(by=bob, study=study)
    assignments.add_annotators(by=alice, study=study, annotators=[bob])
    assert not has_withdrawn(study, bob)
    with pytest.raises(assignments.ConsentNeededError):
        assignments.lease_next(by=bob, study=study)


def test_nobody_withdraws_who_is_no_person_or_has_no_part(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob])
    with pytest.raises(InputError, match="no part"):
        consents.withdraw(by=None, study=study, annotator=charlie)
    User.objects.filter(pk=bob.pk).update(kind="simulated")
    bob.refresh_from_db()
    with pytest.raises(InputError, match="simulated"):
        consents.withdraw(by=None, study=study, annotator=bob)


@pytest.mark.parametrize("text", ["a\0b", "x" * 50_001])
def test_a_text_that_cannot_be_kept(open_study: OpenStudy, alice: User, bob: User, text: str) -> None:
    with pytest.raises(InputError):
        consents.set_text(by=alice, study=open_study([bob]), text=text)
