"""Experiments through the API: reckoned, started, looked at, stopped, and made into studies."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from core.accounts.models.users import User
from simulation.generation.models import Candidate, Making
from simulation.generation.services import worker_sessions
from tests.support.factories import (
    DialogueFactory,
    ExperimentFactory,
    MembershipFactory,
    ProfileFactory,
    ProjectFactory,
    ResearcherFactory,
    ScenarioFactory,
    SimulatedDialogueFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db
SCRIPT = {"provider": "scripted", "model": "", "parameters": {}}
NEW = {"name": "Grid", "user_agent": SCRIPT, "assistants": [SCRIPT], "conditions": ["base"], "users": "1", "tasks": "1"}


@pytest.fixture
def alice(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    client = APIClient()
    client.default_format = "json"
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.mark.any_database
def test_an_experiment_is_reckoned_started_stopped_and_gone_on_with(alice):
    ScenarioFactory()
    reckoned = alice.post("/api/v1/experiments/estimate", NEW)
    assert (reckoned.status_code, reckoned.json()["dialogues"]) == (200, 1)
    made = alice.post("/api/v1/experiments", NEW)
    assert (made.status_code, made.json()["state"]) == (201, "running")
    here = f"/api/v1/experiments/{made.json()['id']}"
    assert alice.get(f"{here}/progress").json()["total"] == 1
    assert [one["index"] for one in alice.get(f"{here}/dialogues").json()["results"]] == [1]
    assert alice.post(f"{here}/stop").json()["state"] == "stopped"
    assert alice.post(f"{here}/resume", {}).json()["state"] == "running"
    assert alice.get(f"{here}/results").json()["name"] == "Grid"
    assert alice.get(f"{here}/results", {"judge": "nobody"}).json()["field"] == "judge"
    assert alice.post(f"{here}/people", {"n": 1}).status_code == 400


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"conditions": ["nope"]}, "conditions"),
        ({"strategy": "nope"}, "strategy"),
        ({"users": "nobody"}, "users"),
        ({"assistants": []}, "assistants"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_is_wrong_with_an_experiment_is_said_at_its_field(alice, change, field):
    ScenarioFactory()
    answer = alice.post("/api/v1/experiments", {**NEW, **change})
    assert (answer.status_code, answer.json()["field"].split(".")[0]) == (400, field)


def test_candidates_are_ordered_made_and_paired(alice):
    profile = ProfileFactory()
    by_step = {f"candidate {level}": [f"{level} {level} words"] for level in ("none", "full")}
    body = {
        "name": "Meals",
        "agent": {**SCRIPT, "parameters": {"by_dialogue": by_step}},
        "questions": [{"profile": profile.pk, "question": "What to cook?"}],
        "levels": ["none", "full"],
    }
    run = alice.post("/api/v1/candidates/runs", body)
    assert (run.status_code, run.json()["n_total"], run.json()["n_done"]) == (201, 1, 0)
    worker_sessions.make(Making.objects.get().pk)
    here = f"/api/v1/candidates/runs/{run.json()['id']}"
    assert alice.get(here).json()["candidates"] == {"none": 1, "generic": 0, "full": 1, "over": 0}
    assert [one["level"] for one in alice.get("/api/v1/candidates").json()["results"]] == ["none", "full"]
    made = alice.post("/api/v1/candidates/pairs", {"against": [["full", "none"]], "run": run.json()["id"]})
    assert (made.json()["pairs"], made.json()["created"]) == (1, 1)
    assert alice.post("/api/v1/candidates/pairs", {"against": [["full", "full"]]}).json()["field"] == "against"
    nobody = {**body, "questions": [{"profile": 987654, "question": "?"}]}
    assert alice.post("/api/v1/candidates/runs", nobody).json()["field"] == "questions"


def test_a_run_of_candidates_is_stopped_and_goes_on(alice):
    body = {
        "name": "Meals",
        "agent": SCRIPT,
        "questions": [{"profile": ProfileFactory().pk, "question": "What to cook?"}],
        "levels": ["none"],
    }
    here = f"/api/v1/candidates/runs/{alice.post('/api/v1/candidates/runs', body).json()['id']}"
    assert alice.post(f"{here}/stop").json() == {"n": 1}
    assert alice.get(here).json()["stopped_at"]
    assert alice.post(f"{here}/resume", {}).json() == {"n": 1}
    assert alice.get(here).json()["stopped_at"] is None
    assert alice.post("/api/v1/candidates/runs/987654/stop").status_code == 404


def test_a_file_of_candidates_is_imported_once_and_a_bad_one_names_its_line(alice, settings):
    profile = ProfileFactory()
    row = {"profile_id": profile.external_id, "question": "Lunch?", "level": "none", "text": "Soup."}
    good = json.dumps(row).encode() + b"\n"

    def send(content: bytes, key: str = "", **more: str):
        file = SimpleUploadedFile("answers.jsonl", content)
        headers = {"Idempotency-Key": key} if key else {}
        return alice.post("/api/v1/candidates/imports", {"file": file, **more}, format="multipart", headers=headers)

    assert send(good, "f").json()["created"] == {"candidates": 1}
    assert send(good, "f")["Idempotent-Replayed"] == "true"
    assert send(good + good, "f").status_code == 422
    assert send(good).json()["unchanged"] == {"candidates": 1}
    bad = send(good + b'{"profile_id": "nobody", "question": "?", "level": "none", "text": "x"}\n')
    assert (bad.status_code, bad.json()["file"], bad.json()["line"], bad.json()["field"]) == (
        400, "answers.jsonl", 2, "profile_id",
    )  # fmt: skip
    for content in (b"\xff\xfe", b"[1]", b'{"profile_id": 1}'):
        assert send(content).status_code == 400
    assert len(send(good + b"{}\n", on_error="skip").json()["skipped"]) == 1
    assert send(good, on_error="maybe").json()["field"] == "on_error"
    assert alice.post("/api/v1/candidates/imports", {"file": "x"}).status_code == 415
    assert alice.post("/api/v1/candidates/imports", {}, format="multipart").json()["field"] == "file"
    settings.MAX_UPLOAD_BYTES = len(good)
    assert send(good + good).status_code == 413
    assert Candidate.objects.count() == 1


def test_a_new_thing_goes_into_the_project_that_is_named(alice):
    ScenarioFactory()
    reading = ProjectFactory(slug="reading")
    MembershipFactory(project=reading, user=User.objects.get(username="alice"))
    question = {"profile": ProfileFactory().pk, "question": "What to cook?"}
    order = {"kind": "check", "source": "made", "profile": ProfileFactory().pk, "agent": SCRIPT}
    run = {"name": "Meals", "agent": SCRIPT, "questions": [question], "levels": ["none"]}
    for at, body in (("experiments", NEW), ("making", order), ("candidates/runs", run)):
        refused = alice.post(f"/api/v1/{at}", {**body, "project": "no-such"})
        assert (refused.status_code, refused.json()["field"]) == (400, "project")
        assert alice.post(f"/api/v1/{at}", body).json()["field"] == "project", "several, and none chosen"
        made = alice.post(f"/api/v1/{at}", {**body, "project": "reading"})
        assert (made.status_code, made.json()["project"]) == (201, "reading"), made.json()


def test_an_order_about_what_is_not_there_names_its_field(alice):
    order = {"kind": "tasks", "source": "made", "domains": ["Travel"], "agent": SCRIPT, "task": 987654}
    answer = alice.post("/api/v1/making", order)
    assert (answer.status_code, answer.json()["field"]) == (400, "task")


def test_lists_cost_the_same_for_more_rows(alice, django_assert_num_queries):
    for _ in range(3):
        SimulatedDialogueFactory(experiment=ExperimentFactory())
    with django_assert_num_queries(4):  # session, user, experiments, assistants
        assert len(alice.get("/api/v1/experiments").json()["results"]) == 3


def test_charlie_sees_no_experiment(client):
    client.force_login(UserFactory(username="charlie"))
    for part in ("experiments", "making", "conflicts", "measures/profiles?source=x"):
        assert client.get(f"/api/v1/{part}").status_code == 403


@pytest.mark.parametrize("kind", ["profiles", "dialogues"])
def test_measures_are_given_or_left_to_a_worker(alice, kind):
    ProfileFactory(source="made", preferences={"Music": {"Genre": ["jazz"]}})
    DialogueFactory(source="made")
    address = f"/api/v1/measures/{kind}"

    found = alice.get(f"{address}?source=made").json()
    assert found["source"] == "made"
    assert alice.post(address, {"source": "made"}).status_code == 202
    assert alice.post(address, {"source": "none"}).json()["field"] == "source"
