"""The page of predicted difficulty."""

from __future__ import annotations

import csv
import json

import pytest
from django.urls import reverse

from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, with_items
from tests.support.predictable import study_of_pairs

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def page(client, slug="alike", **query):
    return client.get(reverse("tiers_predicted", args=[slug]), query)


def download(client, kind):
    return b"".join(client.get(reverse("tiers_predicted_download", args=["alike", kind])).streaming_content).decode()


@pytest.mark.long
def test_the_page_begins_with_whether_difficulty_can_be_predicted(alice):
    judge_says(study_of_pairs(160, rated=120), "gpt", ["1", "2"] * 80)
    response = page(alice)
    html = response.content.decode()
    assert response.context["answer"].startswith("Difficulty can be predicted here. Out of sample, on 120 rated items,")
    assert html.index("Difficulty can be predicted here") < html.index("Errors out of sample")
    assert "gpt" in html
    assert response.context["page"].paginator.count == 40
    assert "--predicted-from alike" in html


def test_the_downloads_hold_every_item(alice):
    study_of_pairs(70, rated=60)
    document = json.loads(download(alice, "json"))
    rows = list(csv.DictReader(download(alice, "csv").splitlines()))
    assert [row["item"] for row in rows] == [row["item"] for row in document["items"]]
    assert float(rows[0]["easy"]) == document["items"][0]["tiers"]["easy"]
    assert alice.get(reverse("tiers_predicted_download", args=["alike", "xml"])).status_code == 404


def test_a_study_without_labels_says_what_is_missing(alice):
    CriterionFactory(study=with_items(4, slug="new"), yes_no=True)
    html = page(alice, "new").content.decode()
    assert "Difficulty cannot be predicted here: there are no ratings" in html
    assert "Too little to learn from" in html


def test_a_wrong_address_is_explained_on_the_page(alice):
    study_of_pairs(60)
    response = page(alice, of="world")
    assert response.status_code == 400
    assert "neither study nor dataset" in response.content.decode()


def test_the_page_of_tiers_leads_here(alice):
    study_of_pairs(60)
    html = alice.get(reverse("tiers", args=["alike"])).content.decode()
    assert reverse("tiers_predicted", args=["alike"]) in html
