"""The download of all labels."""

import csv

import pytest
from django.urls import reverse

from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def test_alice_downloads_every_label(alice):
    criterion = CriterionFactory(study=with_items(2, slug="suits"), yes_no=True)
    people_say(criterion, {"bob": ["yes", "no"]})
    judge_says(criterion, "gpt", ["yes", "yes"])
    response = alice.get(reverse("export", args=["suits", "csv"]))
    assert response.streaming
    assert response["Content-Disposition"] == 'attachment; filename="suits-labels.csv"'
    rows = list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))
    assert [row["rater"] for row in rows] == ["bob", "bob", "gpt", "gpt"]


def test_a_format_that_is_not_there(alice):
    with_items(1, slug="suits")
    assert alice.get(reverse("export", args=["suits", "xlsx"])).status_code == 404
