"""What alice sees of gold, and takes away as files."""

import csv
import io
import json

import pytest
from django.urls import reverse

from tests.support.factories import CriterionFactory, ResearcherFactory, StudyFactory, UserFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def criterion():
    found = CriterionFactory(study=with_items(3, name="Suits", slug="suits"), key="personalization")
    people_say(found, {"bob": ["1", "2", "3"], "dana": ["1", "4", "3"]})
    return found


def test_numbers_reasons_and_items(criterion, alice):
    html = alice.get(reverse("gold", args=["suits"])).content.decode()
    assert "2 of 3 items have a gold value" in html
    assert "only=contested" in html
    listed = alice.get(reverse("gold", args=["suits"]), {"only": "contested"}).content.decode()
    assert "Only some of the items are listed" in listed
    assert f"/studies/suits/items/2/?criterion={criterion.key}" in listed
    assert "/studies/suits/items/1/" not in listed


def test_the_files_hold_every_item(criterion, alice):
    text = alice.get(reverse("gold_download", args=["suits", "csv"])).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["position"], row["gold"], row["source"], row["reason"]) for row in rows] == [
        ("1", "1", "median", ""),
        ("2", "", "", "contested"),
        ("3", "3", "median", ""),
    ]
    found = alice.get(reverse("gold_download", args=["suits", "json"]), {"method": "dawid_skene"}).getvalue()
    found = json.loads(found)
    assert found["method"] == "dawid_skene"
    assert alice.get(reverse("gold_download", args=["suits", "xml"])).status_code == 404


def test_it_begins_with_how_many_items_have_gold_and_counts_only_what_is_there(criterion, alice):
    page = alice.get(reverse("gold", args=["suits"])).content.decode()
    assert page.index("items have a gold value on") < page.index('<form class="row filters"')
    assert "too uncertain" not in page


def test_without_labels_it_says_what_to_do(alice):
    StudyFactory(slug="empty")
    assert "No labels yet" in alice.get(reverse("gold", args=["empty"])).content.decode()


def test_where_the_model_cannot_be_fitted_it_says_why(criterion, alice):
    page = alice.get(reverse("gold", args=["suits"]), {"method": "model"})
    assert page.status_code == 400
    assert "does not fit these ratings" in page.content.decode()
    assert alice.get(reverse("gold_download", args=["suits", "csv"]), {"method": "model"}).status_code == 404


def test_an_address_that_makes_no_sense(criterion, alice):
    for query in ({"method": "coin"}, {"criterion": "colour"}):
        assert alice.get(reverse("gold", args=["suits"]), query).status_code == 400


def test_annotators_do_not_see_it(criterion, client):
    client.force_login(UserFactory())
    assert client.get(reverse("gold", args=["suits"])).status_code == 403
    assert client.get(reverse("gold_download", args=["suits", "csv"])).status_code == 403
