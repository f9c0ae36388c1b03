"""Rules, certificates, revocations and keys by the API."""

from __future__ import annotations

import json

import pytest

from core.errors import InputError
from judging.assessment import signing
from judging.assessment.models.rules import VerdictRules
from judging.assessment.services import certificate_checks
from judging.judges.models import Judge
from tests.db.judging.assessment.services.forging import CHANGES, FORGERIES
from tests.db.judging.assessment.services.judged import study

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

RULES = "/api/v1/studies/known/rules"
VERIFY = "/api/v1/certificates/verify"


@pytest.fixture
def known():
    return study(n=30).study


def certify(alice, **body):
    return alice.post(f"/api/v1/studies/known/judges/{Judge.objects.get().pk}/certificates", body)


@pytest.mark.long
def test_a_certificate_is_checked_by_its_document_or_its_hash(known, alice):
    made = certify(alice).json()
    assert made["holds"]
    for body in ({"document": made["document"]}, {"sha256": made["sha256"]}):
        found = alice.post(VERIFY, body).json()
        assert (found["state"], found["holds"], found["sha256"]) == ("holds", True, made["sha256"])
        assert found["decisions"] == (made["decisions"] if "document" in body else {})
    assert set(made["decisions"].values()) == {"not enough evidence"}
    assert alice.post(VERIFY, {"sha256": "0" * 64}).json()["state"] == "unknown"
    for body in ({}, {"document": made["document"], "sha256": made["sha256"]}, {"document": "x"}, {"other": 1}):
        assert alice.post(VERIFY, body).status_code == 400


@pytest.mark.long
def test_forgeries_are_refused_in_words(known, alice):
    made = certify(alice).json()["document"]
    for forge, wanted, words in FORGERIES.values():
        found = alice.post(VERIFY, {"document": forge(made)}).json()
        assert (found["state"], found["holds"]) == (wanted, False)
        assert words in found["problems"][0]
    for change in CHANGES.values():
        body = json.dumps({"document": change(made)})
        answer = alice.generic("POST", VERIFY, body, content_type="application/json")
        assert answer.status_code == 400
        assert answer.json()["detail"]


@pytest.mark.long
def test_a_name_that_stands_twice_is_refused_as_in_a_file(known, alice):
    made = certify(alice).json()["document"]
    told = json.dumps(made["content"])
    twice = told[:-1] + f', "judge": {json.dumps(made["content"]["judge"])}}}'
    body = json.dumps({"document": {**made, "content": "HERE"}}).replace('"HERE"', twice)
    assert json.loads(body)["document"] == made, "most readers see no difference"
    answer = alice.generic("POST", VERIFY, body, content_type="application/json")
    assert answer.status_code == 400
    with pytest.raises(InputError) as refused:
        certificate_checks.read_file(twice.encode())
    assert answer.json()["detail"] == refused.value.message == "The file holds 'judge' twice."


@pytest.mark.long
def test_one_is_revoked_for_a_reason(known, alice):
    made = certify(alice).json()
    at = f"/api/v1/certificates/{made['sha256']}"
    assert alice.post(f"{at}/revocation", {"reason": ""}).status_code == 400
    answer = alice.post(f"{at}/revocation", {"reason": "wrong labels"})
    assert (answer.status_code, answer.json()["state"]) == (201, "revoked")
    assert "wrong labels" in alice.get(at).json()["problems"][0]
    assert alice.post(f"{at}/revocation", {"reason": "again"}).status_code == 400
    judge = Judge.objects.get().pk
    (row,) = alice.get(f"/api/v1/studies/known/judges/{judge}/certificates").json()["results"]
    assert row["revoked_at"]


def test_the_keys(known, alice):
    certify(alice)
    found = alice.get("/api/v1/certificates/keys").json()
    assert found["algorithm"] == "Ed25519"
    assert found["keys"][0] == {
        "key_id": signing.load_keys()[0].key_id,
        "public_key": signing.load_keys()[0].hex,
        "signs": True,
    }


@pytest.mark.long
def test_rules_are_set_before_the_first_look_and_changed_with_a_reason(known, alice):
    assert alice.get(RULES).json()["rules_on_record"]["first_look"] is None
    made = alice.post(RULES, {"rules": {"least_items": "20"}, "success": "assist and escalate"})
    assert made.status_code == 201
    assert made.json()["rules"]["least_items"] == 20
    assert certify(alice).json()["document"]["content"]["rules"]["least_items"] == 20
    refused = alice.post(RULES, {"rules": {"least_items": "10"}})
    assert refused.status_code == 400
    assert refused.json()["field"] == "reason"
    changed = alice.post(RULES, {"rules": {"least_items": "10"}, "reason": "there are few"}).json()
    (said,) = changed["rules_on_record"]["changes"]
    assert "from 20 to 10. Reason: there are few" in said["sentence"]
    assert "no rule is called 'least_item'" in alice.post(RULES, {"rules": {"least_item": "10"}}).json()["detail"]
    assert changed["rules_on_record"]["success"]["decision"] == "assist and escalate", "what is not given stays"


@pytest.mark.long
def test_a_certificate_by_other_rules_takes_a_reason(known, alice):
    certify(alice)
    other = {"rules": {"tolerated_biases": "central_tendency"}}
    assert certify(alice, **other).status_code == 400
    assert VerdictRules.objects.count() == 1
    made = certify(alice, **other, reason="it is noise").json()
    assert made["document"]["content"]["rules_on_record"]["changes"][0]["reason"] == "it is noise"
    judge = Judge.objects.get().pk
    audit = alice.get(f"/api/v1/studies/known/judges/{judge}/audit").json()
    assert "from none to central_tendency" in audit["rules_on_record"]["changes"][0]["sentence"]
