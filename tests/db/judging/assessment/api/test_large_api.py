"""What of a large study is left to a worker, over the API."""

from __future__ import annotations

import pytest

from annotation.studies.models.labels import AgreementRun
from judging.assessment.models.rules import VerdictRules
from judging.assessment.services import assessment, deferred_agreement as later
from judging.judges.models import Judge
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("all_are_large")]
HERE = "/api/v1/studies/suits"


@pytest.fixture
def judge() -> Judge:
    study = with_items(5, slug="suits")
    criterion = CriterionFactory(study=study, key="tone")
    people_say(criterion, {"bob": ["1", "2", "1", "3", "3"], "dana": ["1", "2", "2", "3", "1"]})
    return judge_says(criterion, "gpt", ["1", "2", "1", "", "3"]).judge


class TestAgreement:
    def test_it_is_asked_for_computed_and_read(self, judge, alice, sent):
        refused = alice.get(f"{HERE}/agreement")
        assert (refused.status_code, "POST them here" in refused.json()["detail"]) == (409, True)
        asked = alice.post(f"{HERE}/agreement", {"bootstrap": 50})
        assert (asked.status_code, asked.json()) == (202, {"queued": True})
        waiting = alice.get(f"{HERE}/agreement", {"bootstrap": 50})
        assert (waiting.status_code, "no worker has begun yet" in waiting.json()["detail"]) == (409, True)
        ((name, args),) = sent
        assert name == later.TASK
        later.compute(*args)
        found = alice.get(f"{HERE}/agreement", {"bootstrap": 50}).json()
        assert found["computed_at"] == AgreementRun.objects.get().created_at.isoformat()
        assert (found["waiting"], found["bootstrap"], found["n_raters"]) == (None, 50, 2)
        assert alice.get(f"{HERE}/agreement").status_code == 409  # with other options

    def test_it_is_the_one_that_is_computed_at_once_for_who_insists(self, judge, alice, sent):
        whole = alice.get(f"{HERE}/agreement", {"whole": "true", "criterion": "tone"}).json()
        kept = alice.get(f"{HERE}/agreement", {"criterion": "tone"}).json()
        assert {name: part for name, part in kept.items() if name not in ("computed_at", "waiting")} == whole
        assert AgreementRun.objects.count() == 1

    def test_what_failed_is_told(self, judge, alice, sent, monkeypatch):
        alice.post(f"{HERE}/agreement", {"by": "stratum"})
        monkeypatch.setattr(later.agreement, "load_or_compute", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            later.compute(*sent[0][1])
        assert "division by zero" in alice.get(f"{HERE}/agreement", {"by": "stratum"}).json()["detail"]

    def test_what_makes_no_sense_is_refused_before_anybody_waits(self, judge, alice, sent):
        for given in ({"bootstrap": -1}, {"read": "tea leaves"}, {"criterion": "tone"}):
            assert alice.post(f"{HERE}/agreement", given).status_code == 400
        for name in ("by", "cluster", "strata"):
            refused = alice.post(f"{HERE}/agreement", {name: "moon"})
            assert (refused.status_code, refused.json()["field"]) == (400, name)
        assert sent == []


class TestAJudge:
    @pytest.fixture(autouse=True)
    def little_is_much(self, monkeypatch):
        monkeypatch.setattr(assessment, "MOST_AT_ONCE", 3)

    @pytest.mark.any_database
    @pytest.mark.long
    @pytest.mark.parametrize("what", ["calibration", "audit"])
    def test_it_is_left_to_a_worker_and_read_afterwards(self, judge, alice, what):
        address = f"{HERE}/judges/{judge.pk}/{what}"
        refused = alice.get(address)
        assert (refused.status_code, refused.json()["field"]) == (409, "judge")
        assessment.assess(judge.runs.get().study_id, judge.pk)
        assert alice.get(address).status_code == 200

    def test_a_judge_of_another_study_is_refused_before_the_rules_are_locked(self, judge, alice):
        other = with_items(2, slug="boots")
        refused = alice.post(f"/api/v1/studies/{other.slug}/judges/{judge.pk}/compute")
        assert (refused.status_code, refused.json()["field"]) == (400, "judge")
        assert not VerdictRules.objects.filter(study=other).exists()
        assert alice.post(f"{HERE}/judges/{judge.pk}/compute").status_code == 202

    @pytest.mark.any_database
    def test_a_part_of_the_items_is_computed_at_once(self, judge, alice):
        assert alice.get(f"{HERE}/judges/{judge.pk}/calibration", {"part": "all"}).status_code == 200
