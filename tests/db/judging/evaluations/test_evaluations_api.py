"""Evaluations through the API: begun once under their key, read, and their wrong answers tagged."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from judging.runs.services import work
from tests.support.evaluated import benchmark_with
from tests.support.factories import JudgeFactory, ResearcherFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    client = APIClient()
    client.default_format = "json"
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def judge():
    return JudgeFactory(name="longer", provider="baseline", model="longer")


@pytest.fixture
def here():
    # the longer response is 1 in all cases, so that "1212" makes half of the answers wrong
    return f"/api/v1/benchmarks/{benchmark_with('1212').slug}/evaluations"


def worked(evaluation: int) -> None:
    for run in JudgeRun.objects.filter(evaluation=evaluation).order_by("pk"):
        for _ in work.work_through(run):
            pass


def test_an_evaluation_is_begun_once_answered_and_read(alice, judge, here):
    body = {"judges": [judge.pk], "settings": ["none", "profile"], "seed": 3}
    made = [alice.post(here, body, headers={"Idempotency-Key": "once"}) for _ in range(2)]
    assert [one.status_code for one in made] == [201, 201]
    assert made[0].json() == made[1].json()
    assert made[1].headers["Idempotent-Replayed"] == "true"
    found = Evaluation.objects.get()
    assert (made[0].json()["n_cases"], made[0].json()["n_runs"], made[0].json()["n_running"]) == (4, 2, 2)
    worked(found.pk)
    runs = alice.get(f"/api/v1/evaluations/{found.pk}/runs").json()["results"]
    assert [(run["state"], run["setting"]["shows"]) for run in runs] == [("finished", "none"), ("finished", "profile")]
    result = alice.get(f"/api/v1/evaluations/{found.pk}/results").json()
    assert [row["cells"]["all"]["value"] for row in result["accuracy"]] == [0.5, 0.5]
    assert [row["id"] for row in alice.get(here).json()["results"]] == [found.pk]
    assert alice.get("/api/v1/evaluations").json()["results"][0]["n_running"] == 0


def test_more_settings_are_asked_and_the_same_is_not_asked_twice(alice, judge, here):
    pk = alice.post(here, {"judges": [judge.pk], "settings": ["none"]}).json()["id"]
    runs = f"/api/v1/evaluations/{pk}/runs"
    again = alice.post(runs, {"judges": [judge.pk], "settings": ["none", "profile"]})
    assert (again.status_code, len(again.json())) == (201, 2)
    assert JudgeRun.objects.filter(evaluation=pk).count() == 2


def test_wrong_answers_are_narrowed_and_tagged(alice, judge, here):
    pk = alice.post(here, {"judges": [judge.pk], "settings": ["none"]}).json()["id"]
    worked(pk)
    at = f"/api/v1/evaluations/{pk}"
    wrong = alice.get(f"{at}/failures").json()["results"]
    assert [(row["value"], row["gold"], row["judge"]) for row in wrong] == [("1", "2", "longer")] * 4  # two orders
    tagged = alice.put(f"{at}/failures/{wrong[0]['id']}/tags", {"tags": ["generic"], "note": "says nothing"})
    assert tagged.status_code == 204
    (row,) = alice.get(f"{at}/failures", {"tag": "generic"}).json()["results"]
    assert row["tags"] == [{"tag": "generic", "by": "alice", "note": "says nothing"}]
    assert len(alice.get(f"{at}/failures", {"tag": "none"}).json()["results"]) == 3
    assert [one["judge"] for one in alice.get(f"{at}/tags").json()["models"]] == ["longer"]
    assert alice.put(f"{at}/failures/{wrong[0]['id']}/tags", {"tags": ["nice"]}).status_code == 400


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"judges": [987654]}, "judges"),
        ({"judges": []}, "judges"),
        ({"settings": ["everything"]}, "settings.0"),
        ({"without": ["demographics.Shoes"], "settings": ["profile"]}, "without"),
        ({"retriever": "endpoint", "settings": ["memories"]}, "embedder"),
        ({"size": 99}, "size"),
        ({"tiers": ["medium"]}, "cases"),
        ({"budget_usd": "-1"}, "budget_usd"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_left(alice, judge, here, change, field):
    answer = alice.post(here, {"judges": [judge.pk], "settings": ["none"], **change})
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Evaluation.objects.exists()


def test_an_imported_judge_cannot_answer_here(alice, here):
    imported = JudgeFactory(name="gpt", provider="imported")
    answer = alice.post(here, {"judges": [imported.pk], "settings": ["none"]})
    assert (answer.status_code, answer.json()["field"]) == (400, "judge")
