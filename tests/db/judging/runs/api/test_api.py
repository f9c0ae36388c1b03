"""Judges, runs and results through the API: the services of the pages, for researchers."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.corpus.models import Dialogue
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun
from judging.runs.services import work
from tests.db.annotation.agreement.services.test_more_ratings import voted
from tests.support.factories import CriterionFactory, JudgeFactory, UserFactory
from tests.support.judging import dialogue_study, response_study, scripted
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
HERE = "/api/v1/studies/suits"


@pytest.fixture
def study():
    study = with_items(3, kind="pair", name="Suits", slug="suits")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie"], "dana": ["1", "2", "1"]})
    judge_says(criterion, "gpt", ["1", "2", ""], order="AB")
    return study


def test_alice_reads_the_document_that_the_command_prints(study, alice):
    found = alice.get(f"{HERE}/agreement", {"bootstrap": 50}).json()
    assert (found["study"], found["criterion"], found["n_raters"]) == ("Suits", "preference", 2)
    assert found["judges"]["gpt"]["unscored"] == 1


@pytest.mark.parametrize(
    ("part", "query", "field"),
    [
        ("agreement", {"criterion": "nope"}, "criterion"),
        ("agreement", {"confidence": 2}, "confidence"),
        ("agreement", {"by": "nope"}, "by"),
        ("agreement", {"bootstrap": 10**9}, "bootstrap"),
        ("agreement", {"nope": 1}, "nope"),
        ("tiers", {"cuts": "1,2"}, "cuts"),
        ("tiers", {"chance": "none"}, "chance"),
        ("tiers/predicted", {"of": "world"}, "of"),
        ("tiers/predicted", {"agreement_cuts": "1,2"}, "agreement_cuts"),
    ],
)
@pytest.mark.each_database
def test_a_query_that_makes_no_sense_names_its_field(study, alice, part, query, field):
    answer = alice.get(f"{HERE}/{part}", query)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.long
def test_tiers_calibration_audit_and_certificate(study, alice):
    assert len(alice.get(f"{HERE}/tiers", {"draws": 10, "bootstrap": 0}).json()["items"]) == 3
    assert alice.get(f"{HERE}/tiers/predicted").json()["reason"]
    judge = Judge.objects.get(name="gpt")
    of_judge = f"{HERE}/judges/{judge.pk}"
    assert "gained" in alice.get(f"{of_judge}/calibration").json()
    assert alice.get(f"{of_judge}/audit").json()["verdict"]
    assert alice.get(f"{of_judge}/audit", {"criterion": "nope"}).status_code == 400
    made = alice.post(f"{of_judge}/certificates", {})
    assert (made.status_code, made.json()["state"]) == (201, "holds")
    assert alice.get(f"/api/v1/certificates/{made.json()['sha256']}").json() == made.json()
    assert list(alice.get(f"{HERE}/calibration").json()["judges"]) == ["gpt"]
    for form, start in (("json", b"{"), ("html", b"<!DOCTYPE"), ("latex", b"%")):
        assert alice.get(f"{HERE}/report.{form}").content.lstrip().startswith(start)
    assert alice.get(f"{HERE}/report.docx").status_code == 404


def test_labels_are_streamed_as_in_the_export(study, alice):
    answer = alice.get(f"{HERE}/labels.csv")
    rows = b"".join(answer.streaming_content).decode().splitlines()
    assert (len(rows), rows[0].split(",")[0]) == (10, "study")


def test_a_run_is_reckoned_started_stopped_and_gone_on_with(
    study, alice, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    judge = alice.post("/api/v1/judges", {"name": "length", "provider": "baseline", "model": ""}).json()
    body = {"judge": judge["id"], "criteria": ["preference"]}
    assert alice.post(f"{HERE}/runs/estimate", body).json()["requests"] == 3
    with django_capture_on_commit_callbacks(execute=True):
        run = alice.post(f"{HERE}/runs", body, headers={"Idempotency-Key": "r"}).json()
        again = alice.post(f"{HERE}/runs", body, headers={"Idempotency-Key": "r"}).json()
    assert run["id"] == again["id"]
    here = f"/api/v1/runs/{run['id']}"
    assert alice.get(f"{here}/progress").json()["expected"] == 3
    assert alice.post(f"{here}/stop").json()["state"] == "stopped"
    assert alice.post(f"{here}/resume", {}).json()["state"] == "running"
    assert [one["id"] for one in alice.get("/api/v1/runs", {"judge": "length"}).json()["results"]] == [run["id"]]
    assert alice.post(f"{HERE}/runs", {"judge": 10**6}).status_code == 404
    assert alice.post(f"{HERE}/runs", {**body, "criteria": ["nope"]}).json()["field"] == "criteria"


def test_a_run_rates_every_response(alice, monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    response_study(2, name="Three", slug="three")
    here, judge = "/api/v1/studies/three/runs", scripted(answers={"helpful": "3", "correct": "yes"})
    assert alice.post(f"{here}/estimate", {"judge": judge.pk}).json()["requests"] == 12
    refused = alice.post(here, {"judge": judge.pk, "unit": "item"})
    assert (refused.status_code, refused.json()["field"]) == (400, "criteria")
    assert alice.post(here, {"judge": judge.pk, "unit": "word"}).json()["field"] == "unit"
    assert alice.post(here, {"judge": judge.pk, "every_turn": True}).json()["field"] == "unit"
    assert alice.post(here, {"judge": judge.pk, "order_policy": "both"}).json()["field"] == "order_policy"
    started = alice.post(here, {"judge": judge.pk, "unit": "response", "criteria": ["helpful"]}).json()
    assert (started["unit"], started["every_turn"]) == ("response", False)
    assert alice.get(f"/api/v1/runs/{started['id']}/progress").json()["expected"] == 6
    for _ in work.work_through(JudgeRun.objects.get(pk=started["id"])):
        pass
    told = alice.get(f"/api/v1/runs/{started['id']}/judgments").json()["results"]
    assert {(one["position"], one["turn"], one["order"]) for one in told} == {
        (position, number, "") for position in (1, 2) for number in (1, 2, 3)
    }
    scores = alice.get(f"/api/v1/runs/{started['id']}/scores").json()
    assert [one["turn"] for one in scores["criteria"]["helpful"]["turns"]] == [1, 2, 3]


def test_a_run_on_turns_by_both_names(alice, monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    study, judge = dialogue_study(1, slug="talk"), scripted()
    for body in ({"every_turn": True}, {"unit": "turn"}):
        started = alice.post(f"/api/v1/studies/{study.slug}/runs", {"judge": judge.pk, **body}).json()
        assert (started["unit"], started["every_turn"]) == ("turn", True)


@pytest.mark.each_database
def test_judgments_come_by_page_at_a_constant_cost(study, alice, django_assert_num_queries):
    run = study.judge_runs.get()
    here = f"/api/v1/runs/{run.pk}/judgments"
    first = alice.get(here, {"limit": 2}).json()
    assert [one["position"] for one in first["results"]] == [1, 2]
    assert [one["unscored_reason"] for one in alice.get(first["next"]).json()["results"]] == ["no verdict in the reply"]
    for limit in (1, 3):
        with django_assert_num_queries(6):  # session, user, the door, run, the rules, judgments
            alice.get(here, {"limit": limit})
    assert "raw_reply" in alice.get(f"/api/v1/judgments/{first['results'][0]['id']}").json()


def test_a_judge_that_ran_stays_and_one_that_never_did_goes(study, alice):
    ran, idle = Judge.objects.get(name="gpt"), JudgeFactory(name="idle", provider="baseline")
    assert alice.delete(f"/api/v1/judges/{ran.pk}").status_code == 400
    assert alice.delete(f"/api/v1/judges/{idle.pk}").status_code == 204
    limited = alice.put(f"/api/v1/judges/{ran.pk}/limits", {"daily_budget_usd": "5.5"})
    assert limited.json()["daily_budget_usd"] == "5.5000"
    assert alice.put(f"/api/v1/judges/{ran.pk}/limits", {"daily_budget_usd": "-1"}).status_code == 400


def test_a_file_is_imported_once_and_a_bad_one_names_its_line(alice):
    good = b'{"id": "d1", "turns": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]}\n'

    def send(content: bytes, **more):
        file = SimpleUploadedFile("talks.jsonl", content)
        return alice.post("/api/v1/imports", {"file": file, "format": "dialogues", **more}, format="multipart")

    assert send(good).json()["created"]["dialogues"] == 1
    assert send(good).json()["unchanged"]["dialogues"] == 1
    bad = send(good + b"{}\n")
    assert (bad.status_code, bad.json()["file"], bad.json()["line"]) == (400, "talks.jsonl", 2)
    skipped = send(good + b"{}\n", on_error="skip").json()
    assert len(skipped["skipped"]) == 1
    assert Dialogue.objects.count() == 1
    assert send(good, format="ratings").json()["field"] == "study"
    assert alice.post("/api/v1/imports", {"format": "dialogues"}).status_code == 415


def test_the_same_file_under_one_key_is_taken_once_and_another_refused(alice):
    def send(content: bytes):
        file = SimpleUploadedFile("talks.jsonl", content)
        body = {"file": file, "format": "dialogues"}
        return alice.post("/api/v1/imports", body, format="multipart", headers={"Idempotency-Key": "f"})

    good = b'{"id": "d1", "turns": [{"role": "user", "content": "Hi"}]}\n'
    assert send(good).json() == send(good).json()
    assert send(good.replace(b"Hi", b"Ho")).status_code == 422


@pytest.mark.parametrize("part", ["", "/labels.csv", "/agreement", "/calibration", "/report.json", "/tiers"])
def test_charlie_and_strangers_see_nothing(study, client, part):
    assert client.get(HERE + part).status_code == 401
    client.force_login(UserFactory(username="charlie"))
    assert client.get(HERE + part).status_code == 403


def test_what_more_ratings_would_tell_and_asking_for_them(alice):
    voted()
    found = alice.get(f"{HERE}/tiers/more", {"ahead": 3}).json()
    assert (found["criterion"], found["ahead"]) == ("done", 3)
    answer = alice.post(f"{HERE}/tiers/more", {"positions": [2, 5]}, content_type="application/json")
    assert answer.json() == {"n": 2}
    assert alice.get(f"{HERE}/tiers/more", {"agreement_cuts": "1,2"}).json()["field"] == "agreement_cuts"
    refused = alice.post(f"{HERE}/tiers/more", {"positions": [99]}, content_type="application/json")
    assert (refused.status_code, refused.json()["field"]) == (400, "positions")
