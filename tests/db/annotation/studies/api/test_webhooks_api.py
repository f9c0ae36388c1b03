"""Webhooks through the API: for researchers whose token has the scope admin."""

from __future__ import annotations

from annotation.studies.models.webhooks import Webhook
from core.accounts.models.tokens import IdempotentWrite

NEW = {"url": "https://8.8.8.8/hook", "events": ["run.finished"]}


def test_a_webhook_is_made_tried_and_ended(alice, caller, monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    client = caller(alice, "admin")
    made = client.post("/api/v1/webhooks", NEW).json()
    assert made["secret"]
    here = f"/api/v1/webhooks/{made['id']}"
    assert "secret" not in client.get(here).json()
    assert client.post(f"{here}/ping").json()["event"] == "ping"
    assert len(client.get(f"{here}/deliveries").json()["results"]) == 1
    assert client.delete(here).status_code == 204
    assert client.get("/api/v1/webhooks").json()["results"][0]["ended_at"]
    assert client.post(f"{here}/ping").status_code == 400


def test_the_kept_answer_holds_no_secret(alice, caller):
    client = caller(alice, "admin")
    first = client.post("/api/v1/webhooks", NEW, headers={"Idempotency-Key": "w"}).json()
    again = client.post("/api/v1/webhooks", NEW, headers={"Idempotency-Key": "w"}).json()
    assert (first["id"], bool(first["secret"]), again["secret"]) == (again["id"], True, "")
    assert first["secret"] not in str(IdempotentWrite.objects.values())
    assert Webhook.objects.count() == 1


def test_others_have_no_webhooks(alice, bob, caller, rosa):
    assert rosa.get("/api/v1/webhooks").status_code == 403
    assert caller(bob, "read").get("/api/v1/webhooks").status_code == 403
    private = caller(alice, "admin").post("/api/v1/webhooks", {**NEW, "url": "http://10.0.0.1/"})
    assert (private.status_code, private.json()["field"]) == (400, "url")
