"""The REST API: read-only, for researchers."""

import pytest
from django.urls import reverse

from tests.factories import CriterionFactory, ResearcherFactory, UserFactory
from tests.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db

NAMES = ["api_studies", "api_study", "api_study_items", "api_study_labels", "api_study_agreement"]


def address(name):
    return reverse(name, args=[] if name == "api_studies" else ["suits"])


@pytest.fixture
def study():
    study = with_items(3, kind="pair", name="Suits", slug="suits")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie"], "dana": ["1", "2", "1"]})
    judge_says(criterion, "gpt", ["1", "2", ""], order="AB")
    return study


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def test_alice_reads_studies_with_their_criteria(study, alice, django_assert_num_queries):
    with_items(2)
    with django_assert_num_queries(5):  # session, user, count, studies, criteria
        found = alice.get(address("api_studies")).json()
    assert [row["name"] for row in found["results"]][-1] == "Suits"
    assert found["results"][-1]["n_items"] == 3
    assert found["results"][-1]["criteria"][0]["key"] == "preference"
    assert alice.get(address("api_study")).json()["slug"] == "suits"


def test_alice_reads_items_with_what_is_rated(study, alice, django_assert_num_queries):
    with django_assert_num_queries(5):
        found = alice.get(address("api_study_items")).json()
    first = found["results"][0]
    assert (found["count"], first["position"], first["item_id"], first["item_source"]) == (3, 1, "suits-p1", "test")
    assert first["pair"]["response_1"] == "First 1"
    assert first["dialogue"] is None


def test_alice_pages_through_labels_as_in_the_export(study, alice):
    found = alice.get(address("api_study_labels"), {"limit": 4, "offset": 5}).json()
    assert found["count"] == 9
    assert [row["rater"] for row in found["results"]] == ["dana", "gpt", "gpt", "gpt"]
    assert found["results"][-1]["unscored_reason"] == "no verdict in the reply"
    assert "offset=1" in found["previous"]


def test_alice_reads_the_document_that_the_command_prints(study, alice):
    found = alice.get(address("api_study_agreement")).json()
    assert (found["study"], found["criterion"], found["n_raters"]) == ("Suits", "preference", 2)
    assert found["judges"]["gpt"]["unscored"] == 1


def test_a_criterion_that_is_not_there_is_400_with_those_that_are(study, alice):
    response = alice.get(address("api_study_agreement"), {"criterion": "nope"})
    assert response.status_code == 400
    assert "preference" in response.json()["criterion"]


@pytest.mark.parametrize("name", NAMES)
def test_charlie_and_strangers_see_nothing(study, client, name):
    assert client.get(address(name)).status_code in (401, 403)
    client.force_login(UserFactory(username="charlie"))
    assert client.get(address(name)).status_code == 403


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_study_that_is_not_there(alice, name):
    assert alice.get(address(name)).status_code == 404


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_written(study, alice, method):
    assert getattr(alice, method)(address("api_study_labels")).status_code == 405
