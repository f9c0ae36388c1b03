"""Alice lets people in, and out, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError
from django.test import Client

from annotation.recruitment.queries import find_return_code
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.audit.models import Act
from tests.db.annotation.management.test_study_commands import refused, run, told
from tests.support.people import OpenStudy


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    return open_study([bob])


def test_a_link_made_listed_used_and_revoked(study: Study) -> None:
    made = run("invite", "--study", "pilot", "--uses", 2, "--days", 7, "--site", "https://rate.example.org/")
    assert made["link"] == f"https://rate.example.org/join/{made['token']}/"
    assert (made["uses"], made["joined"], made["closed"]) == (2, 0, None)
    new = {"username": "dora", "password1": "a-long-enough-one", "password2": "a-long-enough-one"}
    assert Client().post(f"/join/{made['token']}/", new).status_code == 302
    listed = run("invite", "--study", "pilot", "--list")
    assert listed["invitations"][0]["joined"] == 1
    assert made["token"] not in str(listed)
    gone = run("invite", "--study", "pilot", "--revoke", made["number"])
    assert gone["invitations"][0]["closed"] == "This link was revoked."
    assert "revoked" in told("invite", "--study", "pilot", "--list")
    assert "told this once" in told("invite", "--study", "pilot")


def test_bad_words_are_refused(study: Study, tmp_path: Path) -> None:
    invite = ("invite", "--study", "pilot")
    assert "field uses" in refused(*invite, "--uses", 0)
    assert "field days" in refused(*invite, "--days", 0)
    assert "field days" in refused(*invite, "--days", 10**20)
    for wrong in ("tomorrow", "9999-12-31T23:59-23:59"):
        assert "not a date" in refused(*invite, "--expires", wrong)
    assert "expired already" in refused(*invite, "--expires", "2020-01-01T00:00")
    assert "prolific" in refused(*invite, "--platform", "facebook")
    assert "no invitation 99" in refused(*invite, "--revoke", 99)
    assert "field site" in refused(*invite, "--site", "rate.example.org")
    assert not study.invitations.exists()
    assert "no study called" in refused("invite", "--study", "nowhere")
    assert "cannot be read" in refused("consent", "--study", "pilot", "--text", tmp_path / "none.txt")
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"\xe9")
    assert "UTF-8" in refused("consent", "--study", "pilot", "--text", latin)
    assert "field annotator: There is nobody called zoe" in refused(
        "withdraw", "--study", "pilot", "--annotator", "zoe"
    )
    assert "field return_code" in refused("participants", "--study", "pilot", "--return-code", "zoe")


def test_an_option_without_the_one_that_it_belongs_to_is_refused(study: Study, tmp_path: Path) -> None:
    messages, questions = ("messages", "--study", "pilot"), ("questions", "--study", "pilot")
    assert "field annotator: This field is required" in refused(*messages, "--answer", 1, "--text", "Yes.")
    assert "--text belongs to --answer" in refused(*messages, "--text", "Yes.")
    assert "belong to --add" in refused(*questions, "--options", "a", "b")
    for beside in (("--file", tmp_path / "k.csv"), ("--retire", "a")):
        with pytest.raises(CommandError, match="--decided: not allowed with argument"):
            told("known", "pilot", *beside, "--decided", "")
    assert "no study called" in refused("known", "pilot", "--purpose", "training", "--decided", "")
    assert "field by: Say who makes it" in refused("webhook", "--url", "https://8.8.8.8/", "--events", "run.finished")
    assert "field log: There is no webhook 9" in refused("webhook", "--log", 9)


def test_consent_intake_participants_and_withdrawal(study: Study, bob: User, tmp_path: Path) -> None:
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "3"})
    assert run("consent", "--study", "pilot")["hash"] is None
    file = tmp_path / "consent.txt"
    file.write_text("You rate dialogues.", encoding="utf-8")
    assert run("consent", "--study", "pilot", "--text", file)["versions"] == 1
    assert run("intake", "--study", "pilot", "--public")["public_address"] == "/register/pilot/"
    assert run("intake", "--study", "pilot", "--completion-code", "C0DE")["is_public"] is True
    (one,) = run("participants", "--study", "pilot")["participants"]
    assert (one["annotator"], one["submitted"], one["decision"]) == ("bob", 1, "")
    assert run("withdraw", "--study", "pilot", "--annotator", "bob")["erased"] == 2
    (one,) = run("participants", "--study", "pilot")["participants"]
    assert (one["decision"], one["erased"], one["submitted"]) == ("withdrew", 2, 0)


def test_a_return_code_is_told_on_record_and_only_of_people_of_a_platform(study: Study, bob: User) -> None:
    assert "No platform sent bob" in refused("participants", "--study", "pilot", "--return-code", "bob")
    study.participations.create(annotator=bob, platform="prolific", platform_key="k")
    told = run("participants", "--study", "pilot", "--return-code", "bob")
    assert told["return_code"] == find_return_code(study, bob)
    act = Act.objects.order_by("number").last()
    assert (act.verb, act.key, act.study_id) == ("return_code.tell", bob.pk, study.pk)
    assert told["return_code"] not in str(vars(act))
