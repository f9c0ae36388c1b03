"""One more rating of some items: as a researcher asks, and as an adaptive study decides."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from django.core.cache import cache
from django.db import IntegrityError, connections, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation import tasks
from annotation.recruitment.services import consents
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from annotation.studies.services import studies, webhooks
from annotation.workbench.models import OverlapRound
from annotation.workbench.queries import overlap as queries
from annotation.workbench.services import annotations, announcements, assignments, overlap
from config import invariants
from core.audit.models import Act
from core.errors import InputError
from core.jobs import leases
from tests.support.factories import UserFactory

ITEMS = 24


def vote(study: Study, people: list, ratings: int, seed: int = 0) -> None:
    """Hand in so many ratings of each item at once: of the first half of the items all "1", of the others by lot."""
    rng = np.random.default_rng(seed)
    slots = study.assignments.filter(state="open").order_by("item__position", "slot").select_related("item")
    criterion, now = study.criteria.get(), timezone.now()
    taken = []
    for slot in slots:
        held = sum(1 for one in taken if one.item_id == slot.item_id)
        if held < ratings:
            before = study.assignments.filter(item=slot.item_id, annotator__isnull=False).count()
            slot.annotator, slot.state, slot.submitted_at = people[(held + before) % len(people)], "submitted", now
            taken.append(slot)
    Assignment.objects.bulk_update(taken, ["annotator", "state", "submitted_at"])
    half = study.items.count() // 2
    values = ["1" if one.item.position <= half or rng.random() < 0.5 else "2" for one in taken]
    Annotation.objects.bulk_create(
        Annotation(assignment=slot, criterion=criterion, value=value) for slot, value in zip(taken, values, strict=True)
    )


@pytest.fixture
def people(db):
    return UserFactory.create_batch(6)


@pytest.fixture
def sent(monkeypatch):
    """The studies that a task was sent for."""
    found = []
    monkeypatch.setattr(leases.current_app, "send_task", lambda name, args, countdown: found.append((name, *args)))
    return found


@pytest.fixture
def adaptive(open_study, people):
    """An adaptive study of pairs, three to five ratings of each."""
    return open_study(people, items=ITEMS, overlap=3, most_overlap=5, kind="pair")


def slots(study):
    return Counter(study.assignments.values_list("item__position", flat=True))


def test_a_researcher_asks_for_one_more_rating(alice, open_study, people):
    study = open_study(people, items=3, overlap=2, kind="pair")
    vote(study, people, 2)
    assert overlap.ask_more(by=alice, study=study, positions=[1, 3]) == 2
    assert slots(study) == {1: 3, 2: 2, 3: 3}
    study.refresh_from_db()
    assert (study.overlap, study.most_overlap, study.is_adaptive) == (2, 3, False)
    assert Act.objects.filter(verb="study.ask_more", study_id=study.pk).count() == 1
    assert overlap.ask_more(by=alice, study=study, positions=[1, 2]) == 1, "item 1 waits for one already"
    assert invariants.findings() == []


def test_what_cannot_be_asked_for_is_refused(alice, open_study, people):
    study = open_study(people, items=2, overlap=1, kind="pair")
    with pytest.raises(InputError, match="no item 7"):
        overlap.ask_more(by=alice, study=study, positions=[1, 7])
    studies.close(by=alice, study=study)
    with pytest.raises(InputError, match="open it"):
        overlap.ask_more(by=alice, study=study, positions=[1])


@pytest.mark.parametrize(
    ("numbers", "field"), [((1, 3), "overlap"), ((3, 3), "most_overlap"), ((3, 1001), "most_overlap")]
)
def test_bounds_that_make_no_sense_are_refused(alice, numbers, field):
    few, most = numbers
    with pytest.raises(InputError) as refused:
        studies.create(by=alice, name="P", kind="pair", criteria=["preference"], overlap=few, most_overlap=most)
    assert refused.value.field == field


@pytest.mark.parametrize("change", [{"most_overlap": 2}, {"most_overlap": 3}, {"most_overlap": None}, {"overlap": 1}])
def test_the_database_keeps_the_bounds(adaptive, change):
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=adaptive.pk).update(**change)


def test_a_study_is_due_when_ratings_came_in_and_people_have_nothing_left(adaptive, people):
    assert not queries.is_due(adaptive)
    vote(adaptive, people, 1)
    assert queries.is_due(adaptive), "a third of the ratings came in"
    assert overlap.run_rounds(adaptive.pk) == 1
    assert not queries.is_due(adaptive)
    assert "one rating" in queries.find_last_round(adaptive).reason
    vote(adaptive, people, 2)
    assert queries.is_due(adaptive)


def test_unclear_items_are_asked_about_until_they_have_enough(adaptive, people):
    vote(adaptive, people, 3)
    while overlap.run_rounds(adaptive.pk):
        vote(adaptive, people, 1)
    rounds = list(OverlapRound.objects.order_by("number"))
    last = rounds[-1]
    assert rounds[0].n_asked > 0 == last.n_asked
    assert last.n_clear + last.n_enough + last.n_full == ITEMS
    counts = slots(adaptive)
    assert sum(counts.values()) == 3 * ITEMS + sum(one.n_asked for one in rounds)
    assert set(counts.values()) <= {3, 4, 5}
    assert invariants.findings() == []


def test_the_same_round_twice_asks_once(adaptive, people, monkeypatch):
    vote(adaptive, people, 3)
    read = overlap.RoundInput.load(adaptive)
    first = overlap.run_round(by=None, study=adaptive)
    before = slots(adaptive)
    assert first.n_asked
    monkeypatch.setattr(overlap.RoundInput, "load", lambda study: read)
    assert overlap.run_round(by=None, study=adaptive) is None, "it had read before the first one wrote"
    monkeypatch.undo()
    assert overlap.run_rounds(adaptive.pk) == 0
    assert slots(adaptive) == before
    assert Act.objects.filter(verb="study.run_overlap_round").count() == 1


def test_a_model_that_cannot_be_fitted_leaves_the_overlap(open_study, people):
    study = open_study(people, items=4, overlap=2, most_overlap=4, kind="pair")
    vote(study, people, 2)
    assert overlap.run_rounds(study.pk) == 1
    found = queries.find_last_round(study)
    assert found.n_asked == 0
    assert "4 items with two ratings; the model needs 20" in found.reason
    assert set(slots(study).values()) == {2}


def test_a_closed_study_has_no_rounds(alice, adaptive, people):
    vote(adaptive, people, 3)
    studies.close(by=alice, study=adaptive)
    assert overlap.run_rounds(adaptive.pk) == 0
    assert set(slots(adaptive).values()) == {3}


def test_a_rating_sends_a_task_after_commit(adaptive, people, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        slot = assignments.lease_next(by=people[0], study=adaptive)
        annotations.submit(by=people[0], assignment=slot, values={"preference": "A"})
        assert sent == []
    assert sent == [(overlap.TASK, adaptive.pk)]


def test_other_studies_send_none(open_study, people, sent, django_capture_on_commit_callbacks):
    study = open_study(people, items=1, overlap=3, kind="pair")
    with django_capture_on_commit_callbacks(execute=True):
        slot = assignments.lease_next(by=people[0], study=study)
        annotations.submit(by=people[0], assignment=slot, values={"preference": "A"})
    assert sent == []


def test_a_broker_that_is_away_loses_nothing(adaptive, people, monkeypatch, sent, caplog):
    def away(name, args, countdown):
        raise OperationalError("gone")

    vote(adaptive, people, 3)
    with monkeypatch.context() as patched:
        patched.setattr(leases.current_app, "send_task", away)
        overlap.send([adaptive.pk])
    assert "broker cannot be reached" in caplog.text
    cache.delete("overlap-swept")  # of a test before this one
    assert overlap.send_due() == 1
    assert overlap.send_due() == 0, "once a minute on the whole site"
    assert sent == [(overlap.TASK, adaptive.pk)]
    tasks.run_overlap_rounds(adaptive.pk)
    assert OverlapRound.objects.count() == 1


def test_who_withdraws_leaves_a_place_for_others(adaptive, people):
    vote(adaptive, people, 3)
    overlap.run_rounds(adaptive.pk)
    vote(adaptive, people, 1)
    before, gone = slots(adaptive), people[3]
    held = adaptive.assignments.filter(annotator=gone, slot=4).count()
    assert held
    consents.withdraw(by=gone, study=adaptive, annotator=gone)
    assert slots(adaptive) == before
    assert adaptive.assignments.filter(state="open").count() >= held
    assert not invariants.list_rated_too_often().exists()
    assert not invariants.find_items_without_assignments().exists()


def test_an_item_that_every_annotator_rated_waits_for_another_one(open_study, people):
    three = people[:3]
    study = open_study(three, items=ITEMS, overlap=3, most_overlap=5, kind="pair")
    vote(study, three, 3)
    assert overlap.run_rounds(study.pk) == 1
    found = queries.find_last_round(study)
    assert (found.n_asked, found.n_annotators) == (0, 3)
    assert found.n_short > 0
    assert not queries.is_due(study)
    study.annotators.add(people[3])
    assert overlap.run_rounds(study.pk) == 1
    assert queries.find_last_round(study).n_asked == found.n_short


def test_ratings_that_came_in_place_of_withdrawn_ones_are_new(adaptive, people):
    vote(adaptive, people, 3)
    overlap.run_rounds(adaptive.pk)
    before = queries.count_planned_ratings(adaptive)["submitted"]
    consents.withdraw(by=people[0], study=adaptive, annotator=people[0])
    gone = before - queries.count_planned_ratings(adaptive)["submitted"]
    vote(adaptive, [*people[3:], people[1]], 1)
    assert gone
    assert queries.is_due(adaptive)


def test_a_study_is_told_as_finished_once_nothing_more_is_asked(adaptive, people, monkeypatch):
    told = []
    monkeypatch.setattr(webhooks, "load_active", lambda project: [Webhook(events=["study.finished"])])
    monkeypatch.setattr(webhooks, "tell", lambda event, **more: told.append(event))
    vote(adaptive, people, 3)
    announcements.announce_finished(adaptive)
    assert told == [], "a round may still ask for more"
    while overlap.run_rounds(adaptive.pk):
        vote(adaptive, people, 1)
    assert told == ["study.finished"]


@pytest.mark.long
def test_six_people_and_their_workers_at_once(transactional_db, open_study, monkeypatch):
    """Each rates until nothing is left; after each rating a round where one is due, as a worker of its own would."""
    people = UserFactory.create_batch(6)
    study = open_study(people, items=ITEMS, overlap=2, most_overlap=4, kind="pair")
    monkeypatch.setattr(overlap, "send", lambda keys: [overlap.run_rounds(key) for key in keys])

    def work_off(place: int) -> None:
        person, rng = people[place], np.random.default_rng(place)
        try:
            while slot := assignments.lease_next(by=person, study=study):
                easy = slot.item.position <= ITEMS // 2
                side = ("A" if slot.order == "AB" else "B") if easy else rng.choice(["A", "B"])
                annotations.submit(by=person, assignment=slot, values={"preference": str(side)})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work_off, range(6)))
    work_off(0)  # what the last round of all asked for
    counts = slots(study)
    assert len(counts) == ITEMS
    assert set(counts.values()) <= {2, 3, 4}
    assert sum(counts.values()) == 2 * ITEMS + sum(OverlapRound.objects.values_list("n_asked", flat=True))
    held = list(study.assignments.exclude(annotator=None).values_list("item", "annotator"))
    assert len(set(held)) == len(held)
    assert max(counts.values()) > 2
    assert invariants.findings() == []
