"""The factories make rows that the database accepts, and that belong together."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["dialogue", "pair"])
def test_a_judgment_and_an_annotation_of_one_study_share_its_criterion(kind):
    study = factories.StudyFactory(kind=kind)
    criterion = factories.CriterionFactory(study=study, preference=kind == "pair")
    item = factories.ItemFactory(study=study)

    annotation = factories.AnnotationFactory(assignment__item=item)
    judgment = factories.JudgmentFactory(run__study=study, item=item)

    assert annotation.criterion == judgment.criterion == criterion
    assert annotation.assignment.study == study
    assert list(judgment.run.criteria.all()) == [criterion]
    assert judgment.order == ("AB" if kind == "pair" else "")


def test_items_and_slots_are_numbered_from_one():
    study = factories.StudyFactory()

    items = factories.ItemFactory.create_batch(3, study=study)
    slots = [
        factories.AssignmentFactory(item=items[0], **state)
        for state in ({}, {"leased": True}, {"skipped": True}, {"submitted": True})
    ]

    assert [item.position for item in items] == [1, 2, 3]
    assert {item.sample for item in items} == {items[0].sample}
    assert [slot.slot for slot in slots] == [1, 2, 3, 4]


def test_every_factory_makes_a_row():
    for make in (factories.JudgeChunkFactory, factories.WorkerFactory, factories.ResearcherFactory):
        assert make().pk


def test_models_and_migrations_agree():
    call_command("makemigrations", "--check", "--dry-run")
