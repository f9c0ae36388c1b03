"""What the pages of the queue and of coming in do, through the API."""

from __future__ import annotations

import pytest

from annotation.quality.models import Admission, KnownItem
from annotation.recruitment.models import ConsentText, Invitation
from annotation.recruitment.services import demographics, enrolment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from annotation.workbench.services import adjudications, annotations, assignments
from core.accounts.models.users import User
from core.audit.models import Act
from tests.support.factories import CriterionFactory, DialogueFactory, MembershipFactory, ProjectFactory, StudyFactory
from tests.support.labelled import with_items

AT = "/api/v1/studies/pilot"


@pytest.fixture
def study(bob: User) -> Study:
    made = with_items(3, kind="dialogue", name="Pilot", slug="pilot", overlap=1)
    CriterionFactory(study=made, key="personalization")
    made.annotators.add(bob)
    studies.open(by=None, study=made)
    return made


@pytest.fixture
def value(study: Study) -> str:
    return str(study.criteria.get().values[0])


def item(value: str, name: str = "checks:c1") -> dict:
    return {"item": name, "answers": {"personalization": {"value": value, "explanation": "It says so."}}}


class TestQueue:
    def test_rules_are_read_and_set_and_what_is_not_named_stays(self, rosa, study: Study):
        assert rosa.get(f"{AT}/queue").json()["item_limit"] is None
        answer = rosa.patch(f"{AT}/queue", {"check_every": 5, "item_limit": 7})
        assert (answer.status_code, answer.json()["check_every"], answer.json()["item_limit"]) == (200, 5, 7)
        assert rosa.patch(f"{AT}/queue", {"item_limit": None}).json()["item_limit"] is None
        study.refresh_from_db()
        assert (study.check_every, study.item_limit) == (5, None)
        changes = rosa.get(f"{AT}/queue/changes").json()["results"]
        assert [(one["rules"]["item_limit"], one["decided_by"]) for one in changes] == [(7, "alice"), (None, "alice")]

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"check_every": 1}, "check_every"),
            ({"check_every": None}, "check_every"),
            ({"repeat_every": None}, "repeat_every"),
            ({"repeat_after": 0}, "repeat_after"),
            ({"repeat_after": None}, "repeat_after"),
            ({"item_limit": 10**12}, "item_limit"),
            ({"pass_mark": 1.5}, "pass_mark"),
            ({"speed": 3}, "speed"),
            ({}, None),
        ],
    )
    def test_a_rule_that_cannot_be_is_refused_at_its_field(self, rosa, study: Study, given: dict, field: str):
        answer = rosa.patch(f"{AT}/queue", given)
        assert (answer.status_code, answer.json().get("field")) == (400, field)
        assert not study.queue_rules.exists()

    def test_items_are_named_listed_and_retired(self, rosa, study: Study, value: str):
        DialogueFactory(source="checks", external_id="c1")
        body = {"purpose": "check", "items": [item(value)]}
        assert rosa.post(f"{AT}/known", body).json() == {"n": 1}
        assert rosa.post(f"{AT}/known", body).json() == {"n": 1}, "again: as it is"
        (row,) = rosa.get(f"{AT}/known", {"purpose": "check"}).json()["results"]
        assert (row["item_id"], row["item_source"], row["answered"]) == ("c1", "checks", 0)
        assert row["answers"] == {"personalization": {"value": value, "also": [], "explanation": "It says so."}}
        assert row["origin"] == "stated through the API"
        one = f"{AT}/known/{row['id']}"
        assert rosa.get(one).json() == row
        assert rosa.delete(one).status_code == 204
        assert rosa.delete(one).status_code == 400
        assert rosa.get(f"{AT}/known").json()["results"] == []
        assert rosa.get(f"{AT}/known", {"retired": True}).json()["results"][0]["retired_at"]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"purpose": "exam", "items": [item("1")]}, "purpose"),
            ({"purpose": "check", "items": []}, "items"),
            ({"purpose": "check", "items": [item("99")]}, "personalization"),
            ({"purpose": "check", "items": [item("1", "nowhere")]}, "item"),
            ({"purpose": "check", "round": 2, "items": [item("1")]}, "round"),
        ],
    )
    def test_what_cannot_be_named_is_refused_and_nothing_kept(self, rosa, study: Study, body: dict, field: str):
        DialogueFactory(source="checks", external_id="c1")
        answer = rosa.post(f"{AT}/known", body)
        assert answer.status_code == 400
        assert (answer.json().get("field") or next(iter(answer.json()["errors"]))["field"]) == field
        assert not KnownItem.objects.exists()

    def test_what_was_decided_elsewhere_is_named(self, rosa, study: Study, alice: User, value: str):
        other = with_items(2, kind="dialogue", name="Other", slug="other")
        criterion = CriterionFactory(study=other, key="personalization")
        adjudications.decide(by=alice, item=other.items.first(), criterion=criterion, value=value, reason="clear")
        assert rosa.post(f"{AT}/known/decided", {"purpose": "training", "decided_in": "other"}).json() == {"n": 1}
        assert study.known_items.get().origin == "decided in Other"
        hidden = StudyFactory(slug="hidden", project=ProjectFactory(), kind="dialogue")
        for slug in ("no-such", hidden.slug):
            answer = rosa.post(f"{AT}/known/decided", {"purpose": "training", "decided_in": slug})
            assert (answer.status_code, answer.json()["field"]) == (400, "decided_in")

    def test_somebody_is_let_through_with_a_reason(self, rosa, study: Study, bob: User):
        rosa.patch(f"{AT}/queue", {"pass_mark": 0.8})
        wrong = rosa.post(f"{AT}/admissions", {"annotator": "bob", "decision": "again", "reason": "was ill"})
        assert (wrong.status_code, wrong.json()["field"]) == (400, "annotator")
        answer = rosa.post(f"{AT}/admissions", {"annotator": "bob", "decision": "admit", "reason": "knows the work"})
        assert (answer.status_code, answer.json()["outcome"], answer.json()["decided_by"]) == (201, "admitted", "alice")
        assert rosa.get(f"{AT}/admissions").json()["results"] == [answer.json()]
        again = rosa.post(f"{AT}/admissions", {"annotator": "bob", "decision": "admit", "reason": "x"})
        assert again.status_code == 400
        assert Admission.objects.count() == 1


class TestComingIn:
    def test_a_link_is_told_once_and_revoked(self, rosa, study: Study, charlie: User):
        made = rosa.post(
            f"{AT}/invitations", {"max_uses": 2, "note": "first wave"}, headers={"Idempotency-Key": "link"}
        )
        again = rosa.post(
            f"{AT}/invitations", {"max_uses": 2, "note": "first wave"}, headers={"Idempotency-Key": "link"}
        )
        assert made.status_code == 201
        assert made.json()["path"] == f"/join/{made.json()['token']}/"
        assert (again.json()["token"], again.json()["path"], again["Idempotent-Replayed"]) == ("", "", "true")
        enrolment.join(by=charlie, study=study, invitation=Invitation.objects.get())
        (row,) = rosa.get(f"{AT}/invitations").json()["results"]
        assert (row["joined"], row["closed"], "token" in row) == (1, "", False)
        one = f"{AT}/invitations/{row['id']}"
        assert rosa.delete(one).status_code == 204
        assert rosa.get(one).json()["closed"] == "This link was revoked."
        assert rosa.delete(one).status_code == 400

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"max_uses": 0}, "max_uses"),
            ({"expires_at": "2001-01-01T00:00:00Z"}, "expires"),
            ({"expires_at": "soon"}, "expires_at"),
            ({"platform": "fax"}, "platform"),
            ({"note": "x" * 201}, "note"),
        ],
    )
    def test_a_link_that_cannot_be_is_refused(self, rosa, study: Study, given: dict, field: str):
        answer = rosa.post(f"{AT}/invitations", given)
        assert (answer.status_code, answer.json()["field"]) == (400, field)
        assert not Invitation.objects.exists()

    def test_intake_and_consent_are_set_together_or_not_at_all(self, rosa, study: Study):
        assert rosa.get(f"{AT}/intake").json() == {
            "is_public": False,
            "public_path": None,
            "completion_code": "",
            "completion_url": "",
            "consent_text": None,
            "consent_hash": None,
        }
        found = rosa.patch(f"{AT}/intake", {"is_public": True, "completion_code": "C1", "consent_text": "You agree."})
        assert found.json()["public_path"] == "/register/pilot/"
        assert (found.json()["completion_code"], found.json()["consent_text"]) == ("C1", "You agree.")
        assert Act.objects.filter(verb__in=["intake.set", "consent_text.set"]).count() == 1, "one act"
        kept = rosa.patch(f"{AT}/intake", {"completion_url": "https://p.example/done"}).json()
        assert (kept["completion_code"], kept["consent_text"], kept["is_public"]) == ("C1", "You agree.", True)
        bad = rosa.patch(f"{AT}/intake", {"consent_text": "Another.", "completion_url": "ftp://p.example"})
        assert (bad.status_code, bad.json()["field"]) == (400, "completion_url")
        assert ConsentText.objects.count() == 1
        assert rosa.patch(f"{AT}/intake", {"consent_text": ""}).json()["consent_hash"] is None

    def test_participants_are_listed_and_withdrawn(self, rosa, study: Study, bob: User, value: str):
        slot = assignments.lease_next(by=bob, study=study)
        assert slot
        annotations.submit(by=bob, assignment=slot, values={"personalization": value})
        (row,) = rosa.get(f"{AT}/participants").json()
        assert (row["annotator"], row["submitted"], row["decision"]) == ("bob", 1, "")
        done = rosa.post(f"{AT}/participants/bob/withdraw").json()
        assert (done["annotator"], done["decision"], done["erased"]) == ("bob", "withdrawn", 1)
        assert not Annotation.objects.exists()
        assert rosa.get(f"{AT}/participants").json()[0]["decision"] == "withdrew"
        assert rosa.post(f"{AT}/participants/nobody/withdraw").status_code == 404
        assert Act.objects.filter(verb="annotator.withdraw", through="api", key=bob.pk).count() == 1

    def test_questions_about_people(self, rosa, study: Study, bob: User):
        made = rosa.post(f"{AT}/questions", {"text": "Age?", "options": ["young", "old"]})
        assert (made.status_code, made.json()["key"]) == (201, "age")
        demographics.answer(by=bob, study=study, answers={"age": "old"})
        assert [one["text"] for one in rosa.get(f"{AT}/questions").json()] == ["Age?"]
        assert rosa.post(f"{AT}/questions", {"text": "Age?", "options": ["a", "b"], "key": "age"}).status_code == 400
        assert rosa.delete(f"{AT}/questions/age").json() == {"erased": 1}
        assert rosa.delete(f"{AT}/questions/age").status_code == 404


ADDRESSES = (
    *("queue", "queue/changes", "known", "known/1", "admissions", "invitations", "invitations/1", "intake"),
    *("participants", "questions"),
)


@pytest.mark.parametrize("at", ADDRESSES)
def test_it_is_for_researchers_of_the_project(study: Study, rosa, caller, bob: User, at: str):
    assert caller(bob, "read", "annotate").get(f"{AT}/{at}").status_code == 403
    other = MembershipFactory().user
    assert caller(other, "read", "research").get(f"{AT}/{at}").status_code == 404
    assert rosa.get(f"{AT}/{at}").status_code == (404 if at.endswith("/1") else 200)


def test_what_one_study_named_is_not_found_at_another(rosa, study: Study, value: str):
    DialogueFactory(source="checks", external_id="c1")
    rosa.post(f"{AT}/known", {"purpose": "check", "items": [item(value)]})
    StudyFactory(slug="second")
    number = study.known_items.get().pk
    assert rosa.get(f"/api/v1/studies/second/known/{number}").status_code == 404
    assert rosa.delete(f"/api/v1/studies/second/known/{number}").status_code == 404
    assert rosa.get("/api/v1/studies/pilot-known-answers/queue").status_code == 404


def test_the_responses_of_a_study_are_graded_by_another(rosa):
    pairs = with_items(2, kind="pair", name="Suits", slug="suits")
    CriterionFactory(study=pairs, key="preference", preference=True)
    made = rosa.post("/api/v1/studies/suits/graded", {"seed": 3})
    assert (made.status_code, made.json()["kind"], made.json()["n_items"]) == (201, "dialogue", 4)
    assert rosa.post(f"{AT}/graded", {}).status_code == 404
