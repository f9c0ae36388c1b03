"""What is known of items before they are rated, as the database holds it."""

from __future__ import annotations

import pytest

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.queries import item_features
from tests.factories import DialogueFactory, ScenarioFactory, TaskFactory
from tests.labelled import with_items

pytestmark = pytest.mark.django_db


def test_of_dialogues(django_assert_num_queries):
    study = with_items(2)
    task = TaskFactory(domains=["Hotels", "Flights"], preference_types=["seat", "price"], is_multi_domain=True)
    first = study.items.get(position=1).dialogue
    turns = [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}]
    Dialogue.objects.filter(pk=first.pk).update(
        scenario=ScenarioFactory(task=task), condition="base", assistant_model="fern", turns=[*turns, *turns]
    )
    with django_assert_num_queries(1):
        one, two = item_features.load_items(study)
    assert (one.name, one.responses, one.prompt, one.preferences) == ("1", ("Two.", "Two."), "One.\nOne.", 2)
    assert one.groups == {"domain": "several domains", "condition": "base", "assistant": "fern"}
    assert (two.preferences, two.groups["domain"]) == (None, "")


def test_of_the_dataset_is_what_the_study_does_not_hold(django_assert_num_queries):
    study = with_items(2, kind="pair", slug="pairs")
    given = {"content_hash": "0" * 64, "question": "Why?", "response_1": "a", "response_2": "b"}
    there = ResponsePair.objects.create(source="test", external_id="more", kind="general", **given)
    ResponsePair.objects.create(source="another", external_id="not here", **given)
    with django_assert_num_queries(3):
        found, names = item_features.load_dataset(study, prefix="x ")
    assert [(one.name, one.groups["kind"]) for one in found] == [(f"x {there.pk}", "general")]
    assert names == {f"x {there.pk}": "more"}


def test_roles_besides_user_and_assistant_are_passed_over():
    study = with_items(1)
    turns = [{"role": "system", "content": "Be kind."}, {"role": "assistant", "content": "Hello."}]
    DialogueFactory()
    Dialogue.objects.filter(items__study=study).update(turns=turns)
    assert item_features.load_items(study)[0].responses == ("Hello.",)
