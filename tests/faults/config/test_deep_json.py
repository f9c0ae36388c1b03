"""JSON that is nested too deep is refused in words wherever it comes in, and breaks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpus.models import Profile
from config.api.views import load_document
from core.accounts.models.tokens import Scope
from core.accounts.services import tokens
from core.jobs.backoff import TransientError
from judging.judges.parsing import Unscored, parse
from judging.judges.prompts.evaluation import parse_summary
from judging.judges.providers.base import Reply
from judging.judges.providers.scorer import endpoint, model_ratings
from simulation.agents.parsing.generated import UnfitError, document
from tests.support.factories import AssignmentFactory, CriterionFactory, ResearcherFactory
from tests.support.labelled import with_items

DEEP = "[" * 100_000
TOO_DEEP = "nested more than 200 deep"

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    return ResearcherFactory(username="rosa", is_superuser=True)


def taking_json() -> Iterator[tuple[str, str]]:
    """Method and address of every operation that takes a body of JSON."""
    document = load_document()
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            if "application/json" in said.get("requestBody", {}).get("content", {}):
                yield method, re.sub(r"{\w+}", "1", path)


@pytest.mark.any_database
def test_every_operation_of_the_api_refuses_it(rosa):
    _, token = tokens.make(by=rosa, name="deep", scopes=[one.value for one in Scope])
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    operations = list(taking_json())
    answers = {one: client.generic(*one, DEEP, content_type="application/json") for one in operations}
    assert len(operations) > 50
    assert {one: answer.status_code for one, answer in answers.items() if answer.status_code != 400} == {}
    assert all(TOO_DEEP in answer.json()["detail"] for answer in answers.values())


def test_a_body_is_utf_8_whatever_charset_is_named(rosa):
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(rosa)
    for charset in ("hex", "base64", "utf-16", "latin-1", "rot13"):
        kind = f"application/json; charset={charset}"
        answer = client.generic("POST", "/api/v1/studies", '{"name": "Café"}', content_type=kind)
        assert (answer.status_code, answer.json()["field"]) == (400, "kind")  # what it lacks: it was read


def test_marked_words_on_the_rating_page(client):
    slot = AssignmentFactory(leased=True)
    client.force_login(slot.annotator)
    client.raise_request_exception = False
    criterion = CriterionFactory(study=slot.study)
    form = {criterion.key: criterion.values[0], f"{criterion.key}-evidence": DEEP}
    answer = client.post(reverse("assignment_save", args=[slot.pk]), form)
    assert answer.status_code == 422
    assert answer.json()["errors"] == {criterion.key: "The marked words cannot be read."}


@pytest.mark.parametrize("given", [DEEP, '{"a": "\\u0000"}', '{"a": 1e999}', "{"])
def test_parameters_in_a_form(rosa, client, given):
    client.force_login(rosa)
    client.raise_request_exception = False
    answer = client.post(reverse("judge_create"), {"name": "deep", "provider": "baseline", "parameters": given})
    assert answer.status_code == 200
    assert "This is not JSON, is nested more than 200 deep, or holds a NUL character." in answer.text


def test_files_and_options_of_commands(rosa, tmp_path):
    with_items(2, name="Suits", slug="suits", state="open")
    path = tmp_path / "deep.json"
    path.write_text(DEEP)
    for line in (
        ["verify_certificate", str(path)],
        ["import_dialogues", str(path)],
        ["judge", "Suits", "--judge", "baseline", "--parameters", DEEP],
        ["make_material", "profile", "--agent", "scripted", "--demographics", DEEP],
        ["make_material", "profile", "--agent", "scripted " + '{"a":' + DEEP],
    ):
        with pytest.raises(CommandError, match=TOO_DEEP) as caught:
            call_command(*line, stdout=StringIO())
        assert caught.value.returncode == 2


def test_replies_of_models():
    """What a model says is no mistake of a person: it counts as a reply that holds nothing."""
    assert isinstance(parse('{"verdict": ' + "[" * 20_000, scale={"1": "1"}), Unscored)
    assert parse_summary('{"summary": ' + DEEP) == ""
    assert "no rating" in model_ratings.parse_score(Reply(text='{"verdict": ' + DEEP)).reason
    with pytest.raises(TransientError):
        endpoint.parse_score(('{"score": ' + DEEP).encode())
    with pytest.raises(UnfitError):
        document('{"a": ' + DEEP + "}")


def test_what_is_as_deep_as_may_be_is_imported_and_shown(rosa, client, tmp_path):
    path = tmp_path / "profiles.jsonl"
    deep = '{"a":' * 190 + '"x"' + "}" * 190
    path.write_text(f'{{"id": "p1", "preferences": {{"Travel": {deep}}}, "extra": {deep}}}')
    call_command("import_profiles", str(path), stdout=StringIO())
    client.force_login(rosa)
    profile = Profile.objects.get()
    assert client.get(f"/profiles/{profile.pk}/").status_code == 200
    _, token = tokens.make(by=rosa, name="deep", scopes=["read"])
    assert client.get(f"/api/v1/profiles/{profile.pk}", headers={"Authorization": f"Bearer {token}"}).status_code == 200
