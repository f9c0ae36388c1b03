"""What is known of items before they are rated, as the database holds it."""

from __future__ import annotations

import pytest

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.queries import item_features
from tests.support.factories import DialogueFactory, ScenarioFactory, TaskFactory
from tests.support.labelled import with_items

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


def test_of_turns_each_with_what_was_said_before_it():
    study = with_items(1)
    said = [("user", "One."), ("assistant", "Two."), ("user", "Three."), ("assistant", "Four.")]
    Dialogue.objects.filter(items__study=study).update(
        turns=[{"role": role, "content": text} for role, text in said], assistant_model="fern"
    )
    two, four = item_features.load_items(study, of="assistant_turn")
    assert (two.name, two.responses, two.prompt, two.groups["assistant"]) == ("1.2", ("Two.",), "One.", "fern")
    assert (four.name, four.responses, four.prompt) == ("1.4", ("Four.",), "One.\nTwo.\nThree.")
    assert [one.name for one in item_features.load_items(study, of="user_turn")] == ["1.1", "1.3"]


def test_of_responses_each_with_its_own_model():
    study = with_items(1, kind="pair", slug="pairs")
    ResponsePair.objects.filter(items__study=study).update(
        model_1="fern", model_2="moss", n_responses=3, further=[{"text": "Third.", "model": "oak"}]
    )
    found = item_features.load_items(study, of="response")
    assert [(one.name, one.groups["assistant"]) for one in found] == [("1.1", "fern"), ("1.2", "moss"), ("1.3", "oak")]
    assert found[2].responses == ("Third.",)
    more = ResponsePair.objects.create(
        source="test", external_id="more", content_hash="0" * 64, question="Why?", response_1="a", response_2="b"
    )
    outside, names = item_features.load_dataset(study, prefix="x ", of="response")
    assert [one.name for one in outside] == [f"x {more.pk}.1", f"x {more.pk}.2"]
    assert names == {f"x {more.pk}": "more"}
