"""Benchmarks through the API: built of votes, narrowed, audited, cleaned, released and given out; filter rounds."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from rest_framework.test import APIClient

from annotation.benchmarks.models import Benchmark, FilterRound
from tests.db.annotation.benchmarks.services.voting import FITTED, pairs, study_of, vote
from tests.support.factories import ResearcherFactory, UserFactory

pytestmark = pytest.mark.django_db
HERE = "/api/v1/benchmarks"


@pytest.fixture
def alice():
    client = APIClient()
    client.default_format = "json"
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def voted():
    """Three pairs: nine votes of one mind, eight to one, five to four."""
    criterion = study_of(pairs(3), name="Votes", slug="votes")
    vote(criterion, [(9, 0), (1, 8), (5, 4)])
    return criterion.study


@pytest.fixture
def slug(voted, alice):
    made = alice.post(HERE, {"study": "votes", "name": "Choices"})
    assert made.status_code == 201
    return made.json()["slug"]


def test_a_benchmark_is_built_of_votes(alice, slug):
    found = alice.get(f"{HERE}/{slug}").json()
    # (9, 0) easy, (1, 8) hard (kappa 5/9), (5, 4) contested (kappa -1/9) and left out
    assert (found["state"], found["study"], found["n_cases"], found["n_counting"]) == ("draft", "votes", 3, 2)
    assert [row["slug"] for row in alice.get(HERE, {"name": "Choices"}).json()["results"]] == [slug]
    assert alice.get(HERE, {"state": "released"}).json()["results"] == []


@pytest.mark.any_database
def test_tiers_are_the_models_where_that_is_asked_for(alice):
    vote(study_of(pairs(len(FITTED)), name="Votes", slug="votes"), FITTED)
    made = alice.post(HERE, {"study": "votes", "name": "Choices", "tiers": "model"}).json()["made"]
    assert (made["tiers"], made["model"]["n_cases"]) == ("model", len(FITTED))
    refused = alice.post(HERE, {"study": "votes", "name": "Others", "tiers": "guessed"})
    assert (refused.status_code, "tiers" in refused.content.decode()) == (400, True)


def test_cases_are_narrowed_and_paged(alice, slug):
    first = alice.get(f"{HERE}/{slug}/cases", {"limit": 1}).json()
    second = alice.get(first["next"]).json()
    assert [row["case"] for page in (first, second) for row in page["results"]] == ["pair0", "pair1"]
    hard = alice.get(f"{HERE}/{slug}/cases", {"tier": "hard"}).json()["results"]
    assert [(row["gold"], row["votes_1"], row["votes_2"], row["pair"]["question"]) for row in hard] == [
        ("2", 1, 8, "Question 1?")
    ]
    (left_out,) = alice.get(f"{HERE}/{slug}/cases", {"only": "excluded"}).json()["results"]
    assert (left_out["case"], left_out["tier"]) == ("pair2", "contested")
    assert left_out["excluded_reason"]


@pytest.mark.any_database
def test_audit_cleaning_datasheet(alice, slug):
    assert alice.get(f"{HERE}/{slug}/audit").status_code == 404
    made = alice.post(f"{HERE}/{slug}/audit", {"bootstrap": 20}).json()
    assert made["n"] == 2
    assert alice.get(f"{HERE}/{slug}/audit").json() == made
    assert alice.post(f"{HERE}/{slug}/clean", {"rules": ["everything"], "version": "2"}).json()["field"] == "rules"
    cleaned = alice.post(f"{HERE}/{slug}/clean", {"rules": ["repeated"], "version": "2"})
    assert (cleaned.status_code, cleaned.json()["parent"]) == (201, slug)
    assert alice.get(f"{HERE}/{slug}/datasheet").json()["cases"] == 3


@pytest.mark.any_database
def test_a_release_is_given_out_and_does_not_change(alice, slug):
    assert alice.get(f"{HERE}/{slug}/release.zip").status_code == 404
    assert alice.post(f"{HERE}/{slug}/release").json()["state"] == "released"
    assert alice.post(f"{HERE}/{slug}/release").status_code == 400
    answer = alice.get(f"{HERE}/{slug}/release.zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        lines = packed.read(f"{slug}/general/easy.jsonl").decode().splitlines()
    assert [json.loads(line)["votes"] for line in lines] == [{"1": 9, "2": 0, "tie": 0}]


def test_a_filter_round_is_run_once_under_its_key(alice, voted):
    here = "/api/v1/studies/votes/filter-rounds"
    wanted = {"outcomes": {"contested": "asked again"}, "name": "Votes again"}
    for replayed in (False, True):
        made = alice.post(here, wanted, headers={"Idempotency-Key": "round-1"})
        assert (made.status_code, "Idempotent-Replayed" in made.headers) == (201, replayed)
        assert (made.json()["outcomes"], made.json()["follow_up"]) == ({"kept": 2, "asked again": 1}, "votes-again")
    assert FilterRound.objects.count() == 1
    assert [row["number"] for row in alice.get(here).json()["results"]] == [1]
    assert alice.post(here, {}).json()["field"] == "study"  # everything is decided


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"study": "none"}, "study"),
        ({"study": "votes", "cuts": "1,0"}, "cuts"),
        ({"study": "votes", "splits": {"test": 0.5}}, "splits"),
        ({"study": "votes", "criterion": "nope"}, "criterion"),
        ({"study": "votes", "parent": "none"}, "parent"),
        ({"study": "votes", "nope": 1}, "nope"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(alice, voted, body, field):
    answer = alice.post(HERE, {"name": "X", **body})
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Benchmark.objects.exists()


def test_a_list_costs_the_same_for_more_rows(alice, slug, django_assert_num_queries):
    alice.post(f"{HERE}/{slug}/clean", {"rules": ["repeated"], "version": "2"})
    with django_assert_num_queries(3):  # session, user, benchmarks
        assert len(alice.get(HERE).json()["results"]) == 2
    with django_assert_num_queries(5):  # session, user, the door, benchmark, cases
        assert len(alice.get(f"{HERE}/{slug}/cases").json()["results"]) == 3


def test_charlie_sees_no_benchmark(client, slug):
    client.force_login(UserFactory(username="charlie"))
    for part in ("benchmarks", f"benchmarks/{slug}/cases", f"benchmarks/{slug}/release.zip", "evaluations"):
        assert client.get(f"/api/v1/{part}").status_code == 403
