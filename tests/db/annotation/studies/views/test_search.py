"""The search of the top bar: alice finds by name and id, charlie finds nothing."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.support.factories import DialogueFactory, ItemFactory, ResearcherFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def found(client, text):
    response = client.get(reverse("search"), {"q": text})
    assert response.status_code == 200
    return response.content.decode()


def test_a_part_of_a_name_or_id_finds_studies_people_and_items(alice):
    study = StudyFactory(name="Pilot of May", slug="pilot")
    study.annotators.add(UserFactory(username="maybel"))
    ItemFactory(study=study, dialogue=DialogueFactory(external_id="d-may-7"))
    page = found(alice, "MAY")
    for expected in ("Pilot of May", "maybel", "d-may-7", reverse("item_detail", args=["pilot", 1])):
        assert expected in page


def test_nothing_found_says_so_and_shows_what_was_typed_as_text(alice):
    page = found(alice, "<script>x</script>")
    assert "Nothing has this name or id" in page
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "<script>x" not in page


def test_an_empty_search_shows_the_field_alone(alice):
    assert "Nothing has this name" not in found(alice, "  ")


def test_a_long_list_is_cut_and_says_so(alice, django_assert_max_num_queries):
    DialogueFactory.create_batch(30)
    with django_assert_max_num_queries(11):
        assert "The first 20 are shown" in found(alice, "dialogue")


def test_annotators_may_not_search(client):
    client.force_login(UserFactory(username="charlie"))
    assert client.get(reverse("search"), {"q": "a"}).status_code == 403
