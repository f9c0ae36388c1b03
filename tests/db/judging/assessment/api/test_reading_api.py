"""What the pages show of judges beside people, read through the API; and the site itself."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.management import call_command

from annotation.agreement.services import tiers
from annotation.studies.services import guidelines
from core.accounts.models.users import User
from judging.assessment.models.assessment import Certificate
from judging.assessment.services import escalation
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.factories import (
    BenchmarkCaseFactory,
    CriterionFactory,
    JudgeFactory,
    JudgeRunFactory,
    MembershipFactory,
    ResearcherFactory,
    StudyFactory,
    TurnFactory,
)
from tests.support.labelled import add_verdicts, hold_some_out, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db
HERE = "/api/v1/studies/suits"


@pytest.fixture
def criterion():
    """People agree on the first four of six items; the judge is wrong on the second and silent on the last."""
    study = with_items(6, kind="pair", name="Suits", slug="suits")
    made = CriterionFactory(study=study, key="preference", preference=True)
    people_say(made, {"bob": ["1", "2", "1", "2", "1", "2"], "dana": ["1", "2", "1", "2", "2", "1"]})
    judge_says(made, "gpt", ["1", "1", "1", "2", "1", ""], order="AB")
    return made


def at_judge(name: str = "gpt") -> str:
    return f"{HERE}/judges/{Judge.objects.get(name=name).pk}"


class TestItems:
    def test_they_come_by_position_and_narrowed(self, criterion, alice):
        first = alice.get(f"{HERE}/rated-items", {"limit": 4}).json()
        rows = first["results"] + alice.get(first["next"]).json()["results"]
        assert [(one["position"], one["tied"]) for one in rows] == [(n, n > 4) for n in range(1, 7)]
        assert alice.get(first["next"]).json()["next"] is None
        assert rows[1]["judges"][0]["differs"]
        wrong = {"majority": "2", "judge": "gpt", "value": "1"}
        assert [one["position"] for one in alice.get(f"{HERE}/rated-items", wrong).json()["results"]] == [2]
        tied = alice.get(f"{HERE}/rated-items", {"majority": "tied", "limit": 1}).json()
        assert [one["position"] for one in alice.get(tied["next"]).json()["results"]] == [6]

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({"criterion": "nope"}, "criterion"),
            ({"majority": "9"}, "majority"),
            ({"judge": "nobody"}, "judge"),
            ({"value": "1"}, "judge"),
            ({"tier": "nope"}, "tier"),
            ({"cuts": "2,1"}, "cuts"),
            ({"after": -1}, "after"),
            ({"nope": "1"}, "nope"),
        ],
    )
    def test_what_is_not_there_is_refused_at_its_field(self, criterion, alice, query, field):
        answer = alice.get(f"{HERE}/rated-items", query)
        assert (answer.status_code, answer.json()["field"]) == (400, field)

    def test_more_items_cost_no_more_queries(self, criterion, alice, django_assert_num_queries):
        found = []
        alice.get(f"{HERE}/rated-items")  # the first look locks the rules of the verdict
        for limit in (1, 6):
            with django_assert_num_queries(17):
                found.append(alice.get(f"{HERE}/rated-items", {"limit": limit}).json()["results"])
        assert [len(one) for one in found] == [1, 6]

    def test_judges_on_an_item_at_a_constant_cost(self, criterion, alice, django_assert_num_queries):
        at = f"{HERE}/items/2/judgments"
        assert [(one["criterion"], one["value"]) for one in alice.get(at).json()["results"]] == [("preference", "1")]
        for name in ("second", "third"):
            judge_says(criterion, name, ["1"] * 6, order="AB")
            # session, user, the door, the item, the rules, what is held out, the judgments
            with django_assert_num_queries(7):
                alice.get(at)
        assert len(alice.get(at).json()["results"]) == 3
        assert alice.get(f"{HERE}/items/99/judgments").status_code == 404

    def test_a_study_without_a_criterion_has_none(self, alice):
        StudyFactory(slug="bare")
        assert alice.get("/api/v1/studies/bare/rated-items").status_code == 404
        assert alice.get("/api/v1/studies/bare/against-majority").status_code == 404

    def test_tiers_by_hand_are_read(self, criterion, alice):
        item, by = criterion.study.items.get(position=1), User.objects.get(username="alice")
        tiers.set_tier(by=by, item=item, criterion=criterion, tier="hard", reason="odd")
        (row,) = alice.get(f"{HERE}/items/1/tier").json()
        assert (row["tier"], row["reason"], row["criterion"]) == ("hard", "odd", "preference")
        assert alice.get(f"{HERE}/items/99/tier").status_code == 404


class TestJudge:
    def test_contradictions_do_not_tell_what_the_judge_said(self, criterion, alice):
        (row,) = alice.get(f"{HERE}/against-majority").json()["results"]
        assert (row["position"], row["judges"], row["steps"]) == (2, ["gpt"], None)
        assert alice.get(f"{HERE}/against-majority", {"judge": "nobody"}).json()["field"] == "judge"

    def test_disagreements_come_by_place(self, criterion, alice):
        rows = alice.get(f"{at_judge()}/disagreements").json()["results"]
        assert rows[0]["item"] == 2
        assert (rows[0]["judge"], rows[0]["people"]) == ("1", {"bob": "2", "dana": "2"})
        first = alice.get(f"{at_judge()}/disagreements", {"limit": 1}).json()
        assert first["results"] == rows[:1]
        following = first["next"] and alice.get(first["next"]).json()["results"]
        assert (following or []) == rows[1:2]
        assert alice.get(f"{at_judge()}/disagreements", {"sort": "name"}).json()["field"] == "sort"
        assert alice.get(f"{at_judge()}/disagreements", {"criterion": "nope"}).json()["field"] == "criterion"

    def test_why_people_differ_is_what_the_command_prints(self, criterion, alice):
        judge, out = Judge.objects.get(name="gpt"), io.StringIO()
        call_command("disagreements", "--study", "Suits", "--judge", str(judge), "--explain", "--json", stdout=out)
        assert alice.get(f"{at_judge()}/differing").json() == json.loads(out.getvalue())["differing"]
        assert alice.get(f"{at_judge()}/differing", {"criterion": "nope"}).json()["field"] == "criterion"

    def test_two_versions_are_compared(self, criterion, alice):
        assert alice.get(f"{at_judge()}/change").json()["field"] == "against"
        old = Judge.objects.get(name="gpt")
        new = JudgeFactory(name="gpt", version=2, provider="imported", project=old.project)
        run = JudgeRunFactory(study=criterion.study, judge=new, criteria=[criterion])
        add_verdicts(run, criterion, ["1", "2", "1", "2", "1", "2"], order="AB")
        here = f"{HERE}/judges/{new.pk}/change"
        found = alice.get(here).json()
        assert (found["old"], found["new"]) == (str(old), str(new))
        assert alice.get(here, {"against": "9"}).json()["field"] == "against"

    def test_what_came_back_and_what_is_held_out(self, criterion, alice):
        assert alice.get(f"{at_judge()}/escalations/newest").status_code == 404
        assert alice.get(f"{HERE}/hold-out").status_code == 404
        hold_some_out(criterion.study)
        found = alice.get(f"{HERE}/hold-out").json()
        assert (found["share"], found["looks"]) == (0.5, [])
        assert alice.post(f"{at_judge()}/look", {}).status_code == 201
        (look,) = alice.get(f"{HERE}/hold-out").json()["looks"]
        assert (look["judge"], look["by"]) == ("gpt", "alice")

    @pytest.mark.any_database
    def test_certificates_are_listed(self, criterion, alice):
        assert alice.get(f"{at_judge()}/certificates").json()["results"] == []
        made = alice.post(f"{at_judge()}/certificates", {}).json()
        (row,) = alice.get(f"{at_judge()}/certificates").json()["results"]
        assert (row["sha256"], row["created_by"]) == (made["sha256"], "alice")

    @pytest.mark.any_database
    @pytest.mark.long
    def test_limits_are_read_back(self, criterion, alice):
        judge = Judge.objects.get(name="gpt")
        at = f"/api/v1/judges/{judge.pk}/limits"
        none = {
            "daily_budget_usd": None,
            "spent_today_usd": "0.00000000",
            "requests_per_minute": None,
            "tokens_per_minute": None,
        }
        assert alice.get(at).json() == none
        alice.put(at, {"daily_budget_usd": "2.5", "requests_per_minute": 60})
        assert alice.get(at).json() == {**none, "daily_budget_usd": "2.5000", "requests_per_minute": 60}
        assert alice.get("/api/v1/prices/published").json()[0]["provider"]

    def test_probes_are_listed_without_ordinary_runs(self, criterion, alice):
        judge = Judge.objects.get(name="gpt")
        run = JudgeRunFactory(study=criterion.study, judge=judge, kind="probe", probe={"alterations": {"longer": "1"}})
        (row,) = alice.get(f"{HERE}/probes").json()["results"]
        assert (row["id"], row["probe"]) == (run.pk, {"alterations": {"longer": "1"}})
        assert alice.get(f"{HERE}/probes", {"judge": judge.pk + 1}).json()["results"] == []

    def test_a_judgment_without_words_has_no_prompt(self, criterion, alice):
        judgment = Judgment.objects.first()
        assert alice.get(f"/api/v1/judgments/{judgment.pk}/prompt").status_code == 404
        Judge.objects.update(provider="scripted", parameters={"otherwise": "1"})
        JudgeRun.objects.update(order_policy="AB")
        Judgment.objects.update(details={"prompt": "old"})
        found = alice.get(f"/api/v1/judgments/{judgment.pk}/prompt").json()
        assert judgment.item.pair.question in found["user"]
        assert not found["is_same"]


class TestStudy:
    def test_progress_checks_and_versions(self, criterion, alice):
        assert alice.get(f"{HERE}/progress/details").json()["items"] == 6
        assert alice.get(f"{HERE}/checks").json() == []
        (version,) = alice.get(f"{HERE}/criteria/preference/versions").json()
        assert (version["version"], version["is_current"], version["labels"]) == (1, True, 12)
        guidelines.edit(by=None, criterion=criterion, reason="Clearer.", guideline="Read both.")
        newest, oldest = alice.get(f"{HERE}/criteria/preference/versions").json()
        assert (newest["reason"], newest["labels"], oldest["labels"]) == ("Clearer.", 0, 12)

    def test_grades_come_once_there_are_any(self, criterion, alice):
        assert alice.get(f"{HERE}/graded").status_code == 404
        alice.post(f"{HERE}/graded", {})
        assert alice.get(f"{HERE}/graded").status_code in (200, 400), "there are no grades in it yet"

    @pytest.mark.any_database
    def test_files_for_other_tools_and_the_archive(self, criterion, alice):
        tools = {one["key"]: one["files"] for one in alice.get(f"{HERE}/exports").json()}
        assert {"labelstudio", "hf"} <= set(tools)
        for tool in ("labelstudio", "hf"):
            packed = b"".join(alice.get(f"{HERE}/exports/{tool}.zip").streaming_content)
            assert zipfile.ZipFile(io.BytesIO(packed)).namelist()
        assert alice.get(f"{HERE}/exports/nope.zip").status_code == 404
        packed = b"".join(alice.get(f"{HERE}/archive.zip").streaming_content)
        assert zipfile.ZipFile(io.BytesIO(packed)).namelist()

    def test_answers_to_checks_are_given_out_where_asked_for(self, criterion, alice):
        rows = b"".join(alice.get(f"{HERE}/labels.csv", {"purpose": "check"}).streaming_content).decode().splitlines()
        assert len(rows) == 1 + 6, "a head, and what the judge said"
        assert alice.get(f"{HERE}/labels.csv", {"purpose": "nope"}).json()["field"] == "purpose"


def test_lists_cost_the_same_for_more_rows(criterion, alice, django_assert_num_queries):
    """Certificates and probes of a judge, members of a project, studies to decide in."""
    judge = Judge.objects.get(name="gpt")
    costs = {f"{at_judge()}/certificates": 4, f"{HERE}/probes": 6, "/api/v1/adjudication": 3}
    costs["/api/v1/projects/default/members"] = 6
    for more in range(3):
        for address, n in costs.items() if more else ():
            with django_assert_num_queries(n, info=address):
                alice.get(address)
        Certificate.objects.create(study=criterion.study, judge=judge, content={}, sha256=f"{more:064x}")
        JudgeRunFactory(study=criterion.study, judge=judge, kind="probe")
        ResearcherFactory()
        StudyFactory(state="open")


def test_a_case_of_a_benchmark(alice):
    case = BenchmarkCaseFactory(benchmark__slug="suits")
    there = BenchmarkCaseFactory(benchmark__slug="other")
    assert alice.get(f"/api/v1/benchmarks/suits/cases/{case.pk}").json()["id"] == case.pk
    assert alice.get(f"/api/v1/benchmarks/suits/cases/{there.pk}").status_code == 404


def test_a_dialogue_of_an_experiment_turn_by_turn(alice):
    turn = TurnFactory(text="I need a table.")
    row = turn.simulated
    here = f"/api/v1/experiments/{row.experiment_id}/dialogues"
    assert [one["text"] for one in alice.get(f"{here}/{row.index}").json()["turns"]] == ["I need a table."]
    assert alice.get(f"{here}/99").status_code == 404


def test_the_system_names_what_one_may_see(criterion, alice):
    found = alice.get("/api/v1/system").json()
    assert {one["name"] for one in found["checks"]} >= {"database", "broker"}
    assert (found["queue"]["waiting"], found["processes"]) == (0, [])
    judge, other = Judge.objects.get(name="gpt"), StudyFactory(project=MembershipFactory().project, name="Hidden")
    hidden, mine = (JudgeRunFactory(study=study, judge=judge) for study in (other, criterion.study))
    runs = [one["id"] for one in alice.get("/api/v1/system").json()["runs"]]
    assert mine.pk in runs
    assert hidden.pk not in runs


def test_a_search_says_where_the_api_has_it(criterion, alice):
    found = {one["title"]: one for one in alice.get("/api/v1/search", {"q": "suits"}).json()}
    assert found["Studies"]["addresses"] == ["studies/suits"]
    assert found["Items"]["addresses"][0] == "studies/suits/items/1"
    pair = criterion.study.items.get(position=1).pair
    assert f"pairs/{pair.pk}" in found["Response pairs"]["addresses"]
    for one in found.values():
        assert all(at is None or alice.get(f"/api/v1/{at}").status_code == 200 for at in one["addresses"])


@pytest.mark.any_database
def test_what_was_left_to_people_comes_back(alice):
    n = 60
    made = CriterionFactory(study=with_items(n, name="Known", slug="known"), key="done", yes_no=True)
    truth = ["yes" if k % 3 else "no" for k in range(n)]
    people_say(made, {"ann": [*truth[:40], *[None] * 20]})
    run = JudgeRunFactory(study=made.study, judge=JudgeFactory(name="small", provider="imported"), criteria=[made])
    details = [{"distribution": {value: 0.9 if k % 2 else 0.4}} for k, value in enumerate(truth)]
    add_verdicts(run, made, truth, details=details)
    here = f"/api/v1/studies/known/judges/{run.judge_id}/escalations"
    left = alice.post(here, {"name": "Left", "target": 0.9})
    if left.status_code == 400:
        pytest.fail(left.json()["detail"])
    found = alice.get(f"{here}/newest").json()
    assert found["slug"] == left.json()["study"]
    assert escalation.newest(made.study, run.judge).target.slug == found["slug"]
