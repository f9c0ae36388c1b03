"""`rules` before anybody has looked at a judge's result, and commands that change none by mistake."""

from __future__ import annotations

import json

import pytest

from judging.assessment.models.rules import VerdictRules
from tests.db.judging.assessment.services.judged import study
from tests.db.judging.management.test_certificate_commands import JUDGE, refused, run

pytestmark = pytest.mark.django_db


@pytest.mark.any_database
@pytest.mark.long
def test_rules_are_set_before_anybody_looks():
    study(n=30)
    said = run("rules", "Known", "--rule", "least_items=20", "--success", "assist and escalate")
    assert "Labelled items with a verdict, at least: 20" in said
    assert "Nobody has looked yet" in said
    run("audit", *JUDGE)
    found = json.loads(run("rules", "Known", "--json"))
    assert found["rules"]["least_items"] == 20
    assert found["rules_on_record"]["success"] == {"decision": "assist and escalate", "criteria": []}
    assert found["rules_on_record"]["first_look"]["by"] == "a command"
    assert "Give a reason" in refused("rules", "Known", "--success", "replace")
    run("rules", "Known", "--success", "replace", "--success-criteria", "personalization", "--reason", "it matters")
    assert "from assist and escalate on every criterion to replace on personalization" in run("rules", "Known")
    assert "no criterion is called" in refused("rules", "Known", "--success-criteria", "nope", "--reason", "x")


def test_an_unknown_judge_does_not_change_the_rules():
    study(n=30)
    rule = ("--rule", "least_items=20")
    assert "there are: gpt" in refused("certificate", "--study", "Known", "--judge", "claude", *rule)
    assert "there are: gpt" in refused("audit", "--study", "Known", "--judge", "claude", *rule)
    assert not VerdictRules.objects.exists()
