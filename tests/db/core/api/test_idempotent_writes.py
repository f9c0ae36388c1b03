"""A write that is sent twice under one key is done once, whoever was first and whatever broke in between."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection, connections
from django.utils import timezone

from annotation.studies.models.studies import Study
from core.accounts.models.tokens import IdempotentWrite
from core.api import idempotency
from core.api.idempotency import OtherRequestError, StoredResponse
from core.errors import InputError
from tests.support.factories import CriterionFactory, StudyFactory, UserFactory

NEW = {"name": "Once", "kind": "dialogue"}


def post(client, body=NEW, key="k1"):
    return client.post("/api/v1/studies", body, headers={"Idempotency-Key": key})


def test_the_same_request_again_gets_the_first_answer(rosa):
    first, again = post(rosa), post(rosa)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert Study.objects.count() == 1


def test_the_key_of_another_request_is_refused(rosa):
    post(rosa)
    for answer in (post(rosa, {**NEW, "name": "Twice"}), rosa.post("/api/v1/studies/once/open", headers=KEY)):
        assert answer.status_code == 422
        assert answer.json()["field"] == "Idempotency-Key"
    assert Study.objects.count() == 1


KEY = {"Idempotency-Key": "k1"}


def test_an_address_with_a_key_of_its_own_takes_one_too(rosa):
    criterion = CriterionFactory(study__slug="suits", key="coherence")
    edit = {"reason": "Clearer.", "guideline": "Rate the whole dialogue."}
    sent = [rosa.patch("/api/v1/studies/suits/criteria/coherence", edit, headers=KEY) for _ in range(2)]
    assert [one.status_code for one in sent] == [200, 200]
    criterion.refresh_from_db()
    assert criterion.guideline_version == 2


def test_an_answer_without_content_is_kept_too(rosa):
    post(rosa)
    token = rosa.get("/api/v1/tokens").json()[0]["id"]
    answers = [rosa.delete("/api/v1/tokens/999", headers={"Idempotency-Key": "d"}).status_code for _ in range(2)]
    assert answers == [404, 404]
    gone = rosa.delete(f"/api/v1/tokens/{token}", headers={"Idempotency-Key": "d"})
    assert gone.status_code == 204
    assert IdempotentWrite.objects.get(key="d").answer is None


def test_what_was_refused_leaves_no_key(rosa):
    assert post(rosa, {**NEW, "criteria": ["nope"]}).status_code == 400
    assert not IdempotentWrite.objects.exists()
    assert post(rosa).status_code == 201


def test_keys_belong_to_accounts(rosa, caller, bob):
    bob.is_researcher = True
    bob.save()
    assert post(rosa).status_code == 201
    assert post(caller(bob, "research"), {**NEW, "name": "Mine"}).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 101, "caf\u00e9"])
def test_a_key_that_is_none_is_refused(rosa, key):
    assert post(rosa, key=key).status_code == 400
    assert not Study.objects.exists()


def test_a_key_is_forgotten_after_a_day(rosa):
    post(rosa)
    IdempotentWrite.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    assert post(rosa, {**NEW, "name": "Another"}).status_code == 201


def test_what_breaks_in_between_is_undone_with_its_key(bob):
    def breaks() -> StoredResponse:
        StudyFactory(name="Half", slug="half", kind="dialogue")
        raise InputError("broken")

    with pytest.raises(InputError):
        idempotency.run_once(by=bob, key="k", request_hash="h", act=breaks)
    assert not Study.objects.exists()
    assert not idempotency.has_response(by=bob, key="k")


def test_another_hash_is_another_request(bob):
    idempotency.run_once(by=bob, key="k", request_hash="h", act=lambda: StoredResponse(200, {}))
    with pytest.raises(OtherRequestError):
        idempotency.run_once(by=bob, key="k", request_hash="i", act=lambda: StoredResponse(200, {}))


@pytest.mark.django_db(transaction=True)
def test_two_at_once_do_it_once():
    """On PostgreSQL the second waits at the unique constraint, on SQLite at the lock of the database."""
    bob, start, done = UserFactory(), Barrier(4), []

    def act() -> StoredResponse:
        study = StudyFactory(name=f"Study {Study.objects.count()}", slug=f"s{len(done)}", kind="pair")
        return StoredResponse(201, {"id": study.pk})

    def ask() -> None:
        try:
            start.wait()
            done.append(idempotency.run_once(by=bob, key="k", request_hash="h", act=act))
        finally:
            connections.close_all()

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert connection.vendor in ("sqlite", "postgresql")
    assert Study.objects.count() == 1
    assert len({answer.content["id"] for answer in done}) == 1
    assert sorted(answer.again for answer in done) == [False, True, True, True]
