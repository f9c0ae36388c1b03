"""What people should label next, through the API: what a cascade leaves to them, and what a plan draws."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.studies.models.studies import Criterion, Study
from core.audit.models import Act
from judging.assessment.models.assessment import Escalation, LabelPlan
from judging.judges.models import Judge
from tests.support.factories import CriterionFactory, JudgeFactory, JudgeRunFactory, MembershipFactory
from tests.support.labelled import add_verdicts, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
N, LABELLED = 60, 40
HERE = "/api/v1/studies/known"
KEY = {"Idempotency-Key": "k"}


@pytest.fixture
def criterion() -> Criterion:
    """Two judges, each sure where it is right: the one on every second item, the other on all but every sixth."""
    made = CriterionFactory(study=with_items(N, name="Known", slug="known"), key="done", yes_no=True)
    truth = ["yes" if k % 3 else "no" for k in range(N)]
    people_say(made, {"ann": [*truth[:LABELLED], *[None] * (N - LABELLED)]})
    for name, every in (("small", 2), ("large", 6)):
        right = [bool(k % every) for k in range(N)]
        wrong = {"yes": "no", "no": "yes"}
        values = [value if ok else wrong[value] for value, ok in zip(truth, right, strict=True)]
        run = JudgeRunFactory(study=made.study, judge=JudgeFactory(name=name, provider="imported"), criteria=[made])
        details = [
            {"distribution": {value: 0.9 if ok else 0.4}} for value, ok in zip(values, right, strict=True)
        ]  # fmt: skip
        add_verdicts(run, made, values, details=details, cost_usd="0.01")
    return made


@pytest.fixture
def ids(criterion: Criterion) -> list[int]:
    return [Judge.objects.get(name=name).pk for name in ("small", "large")]


def printed(*arguments: str) -> dict:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


class TestCascade:
    def test_it_is_the_document_that_the_command_prints(self, alice, ids):
        query = {"judges": ",".join(map(str, ids)), "target": 0.8}
        wanted = printed("cascade", "--study", "known", "--judges", "small,large", "--target", "0.8")
        assert alice.get(f"{HERE}/cascade", query).json() == wanted

    @pytest.mark.long
    def test_what_is_left_becomes_a_study_once(self, alice, ids):
        body = {"judges": ids, "name": "Left by two", "overlap": 2}
        made, again = (alice.post(f"{HERE}/cascade/escalations", body, headers=KEY) for _ in range(2))
        assert (made.status_code, made.json()["study"]) == (201, "left-by-two")
        assert (again.json(), again["Idempotent-Replayed"]) == (made.json(), "true")
        assert Escalation.objects.get().target.overlap == 2
        assert alice.post(f"{HERE}/cascade/escalations", {**body, "overlap": 3}, headers=KEY).status_code == 422
        assert alice.post(f"{HERE}/cascade/escalations", body).json()["field"] == "name", "taken"
        assert Act.objects.filter(verb="items.escalate", through="api").count() == 1

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"judges": [1]}, "judges"),
            ({"judges": [10**6, 10**7]}, "judges"),
            ({"judges": "small"}, "judges"),
            ({"judges": [2**63, 1]}, "judges"),
            ({"target": 2}, "target"),
            ({"target": "nan"}, "target"),
            ({"delta": 0}, "delta"),
            ({"name": ""}, "name"),
            ({"name": "x" * 121}, "name"),
            ({"overlap": 0}, "overlap"),
            ({"judge": 1}, "judge"),
        ],
    )
    def test_what_cannot_be_made_is_refused_at_its_field(self, alice, ids, change, field):
        answer = alice.post(f"{HERE}/cascade/escalations", {"judges": ids, "name": "Left", **change})
        assert (answer.status_code, answer.json()["field"].split(".")[0]) == (400, field)
        assert not Escalation.objects.exists()

    @pytest.mark.parametrize("judges", ["", "1", "small,large", "1,1", "-1,2", "9" * 30, "²,³"])
    def test_a_cascade_of_other_judges_is_refused(self, alice, ids, judges):
        answer = alice.get(f"{HERE}/cascade", {"judges": judges.replace("1", str(ids[0]))})
        assert (answer.status_code, answer.json()["field"]) == (400, "judges")

    def test_a_judge_of_another_project_did_not_judge_this_study(self, alice, ids):
        elsewhere = JudgeFactory(name="elsewhere", project=MembershipFactory().project)
        body = {"judges": [ids[0], elsewhere.pk], "name": "Left"}
        answer = alice.post(f"{HERE}/cascade/escalations", body)
        assert (answer.status_code, answer.json()["field"]) == (400, "judges")
        assert "elsewhere" not in answer.json()["detail"]


ASKED = {"criterion": "done", "width": 0.3}


class TestPlan:
    @pytest.fixture
    def here(self, ids: list[int]) -> str:
        return f"{HERE}/judges/{ids[1]}/plan"

    def test_it_is_the_document_that_the_command_prints(self, alice, here):
        options = ("--judge", "large", "--criterion", "done", "--width", "0.3", "--seed", "4")
        assert alice.get(here, {**ASKED, "seed": 4}).json() == printed("plan_labels", "--study", "known", *options)

    def test_the_drawn_items_become_a_study_once(self, alice, here):
        body = {**ASKED, "width": 0.25, "name": "Next", "overlap": 2}
        made, again = (alice.post(here, body, headers=KEY) for _ in range(2))
        assert (made.status_code, made.json()["study"], made.json()["criterion"]) == (201, "next", "done")
        assert (again.json(), again["Idempotent-Replayed"]) == (made.json(), "true")
        assert alice.post(here, {**body, "name": "Other"}, headers=KEY).status_code == 422
        assert LabelPlan.objects.get().created_by.username == "alice"
        target = Study.objects.get(slug="next")
        drawn = alice.get(here, {**ASKED, "width": 0.25}).json()["items"]
        assert (target.overlap, target.items.count()) == (2, len(drawn))

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"criterion": "nope"}, "criterion"),
            ({"criterion": ""}, "criterion"),
            ({"width": 0}, "width"),
            ({"width": "inf"}, "width"),
            ({"width": "nan"}, "width"),
            ({"width": 3}, "width"),
            ({"by": "nope"}, "by"),
            ({"confidence": 1}, "confidence"),
            ({"confidence": "nan"}, "confidence"),
            ({"seed": -1}, "seed"),
            ({"seed": 2**63}, "seed"),
            ({"name": ""}, "name"),
            ({"name": "x" * 121}, "name"),
            ({"overlap": 0}, "overlap"),
        ],
    )
    def test_what_cannot_be_made_is_refused_at_its_field(self, alice, here, change, field):
        answer = alice.post(here, {**ASKED, "name": "Next", **change})
        assert (answer.status_code, answer.json()["field"]) == (400, field)
        assert not LabelPlan.objects.exists()

    def test_a_judge_that_said_nothing_here_has_no_plan(self, alice, criterion):
        idle, there = JudgeFactory(name="idle"), JudgeFactory(project=MembershipFactory().project)
        assert alice.get(f"{HERE}/judges/{idle.pk}/plan", ASKED).json()["field"] == "judge"
        assert alice.get(f"{HERE}/judges/{there.pk}/plan", ASKED).status_code == 404
        assert alice.post(f"{HERE}/judges/{10**6}/plan", {**ASKED, "name": "N"}).status_code == 404
