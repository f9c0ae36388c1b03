"""A study that asks what is better for this person, and shows none, says so before anybody rates."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from annotation.studies.queries.context import find_missing_context
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from tests.support.factories import DialogueFactory, ResponsePairFactory

pytestmark = pytest.mark.django_db


def make(alice: User, **given):
    return studies.create(by=alice, **{"name": "Pilot", "kind": "pair", "criteria": ["preference"], **given})


def test_no_part_of_the_persona_is_chosen(alice: User) -> None:
    (told,) = find_missing_context(make(alice, shown=[]))
    assert "no part of the persona" in told


def test_some_of_the_items_have_no_persona(alice: User) -> None:
    ResponsePairFactory.create_batch(2)
    ResponsePairFactory.create_batch(3, profile=None)
    study = make(alice)
    assert find_missing_context(study) == []
    samples.draw(by=alice, study=study)
    (told,) = find_missing_context(study)
    assert "3 of 5 items have none" in told


def test_nothing_is_said_where_the_criteria_ask_of_no_person(alice: User) -> None:
    DialogueFactory.create_batch(2)
    study = make(alice, kind="dialogue", criteria=["coherence_assistant"], shown=[])
    samples.draw(by=alice, study=study)
    assert find_missing_context(study) == []


def test_page_command_and_api_say_it(alice: User, client, capsys) -> None:
    make(alice, name="By hand", shown=[])
    client.force_login(alice)
    assert "no part of the persona" in client.get("/studies/by-hand/").content.decode()
    assert client.get("/api/v1/studies/by-hand").json()["warnings"]
    ResponsePairFactory.create_batch(3, profile=None)
    call_command("study", "Pilot", "--kind", "pair", "--criteria", "preference")
    capsys.readouterr()
    call_command("sample", "pilot", "--json")
    assert "3 of 3 items have none" in json.loads(capsys.readouterr().out)["warnings"][0]
