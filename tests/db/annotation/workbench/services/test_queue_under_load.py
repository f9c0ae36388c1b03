"""Eight annotators at once, on a database in a file as in production."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.support.factories import UserFactory
from tests.support.people import OpenStudy

ITEMS, OVERLAP, PEOPLE = 20, 3, 8


def work_off(person: User, study: Study) -> list[int]:
    """Rate until nothing is left; the ids of the slots that were rated."""
    rated = []
    try:
        while slot := assignments.lease_next(by=person, study=study):
            annotations.submit(by=person, assignment=slot, values={"task_completion": "yes", "personalization": "2"})
            rated.append(slot.pk)
    finally:
        connections.close_all()
    return rated


def test_eight_people_fill_every_slot_exactly_once(transactional_db: None, open_study: OpenStudy) -> None:
    people = UserFactory.create_batch(PEOPLE)
    study = open_study(people, items=ITEMS, overlap=OVERLAP)
    with ThreadPoolExecutor(PEOPLE) as pool:
        rated = [pk for done in pool.map(lambda person: work_off(person, study), people) for pk in done]

    assert sorted(rated) == sorted(study.assignments.values_list("pk", flat=True))
    assert len(rated) == ITEMS * OVERLAP
    assert set(study.assignments.values_list("state", flat=True)) == {"submitted"}
    assert set(Counter(study.assignments.values_list("item", flat=True)).values()) == {OVERLAP}
    assert Annotation.objects.count() == ITEMS * OVERLAP * 2
    held = list(study.assignments.values_list("item", "annotator"))
    assert len(set(held)) == len(held)
