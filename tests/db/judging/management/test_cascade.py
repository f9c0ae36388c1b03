"""The command `cascade`, and the comparison page's section."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.studies.models.studies import Criterion
from judging.assessment.models.assessment import Escalation
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, certificate_checks, certificates, escalation, report
from judging.assessment.services.assessment import AssessmentRequest
from judging.runs.models.runs import Judgment
from tests.db.judging.assessment.services.judged import compute_results
from tests.support.factories import CriterionFactory, JudgeFactory, JudgeRunFactory, ResearcherFactory
from tests.support.labelled import add_verdicts, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db
N, LABELLED = 240, 200


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    yield from share_rows(django_db_blocker, lambda: two_judges().pk)


@pytest.fixture
def criterion(made, db) -> Criterion:
    return Criterion.objects.get(pk=made)


def two_judges() -> Criterion:
    """Two judges: the cheap one is right where it is sure, the dear one everywhere but on 40 items."""
    made = CriterionFactory(study=with_items(N, name="Known", slug="known"), key="done", yes_no=True)
    truth = ["yes" if k % 3 else "no" for k in range(N)]
    people_say(made, {"ann": [*truth[:LABELLED], *[None] * (N - LABELLED)]})
    wrong = {"yes": "no", "no": "yes"}
    cheap = [value if k % 2 else wrong[value] for k, value in enumerate(truth)]
    dear = [value if k % 6 else wrong[value] for k, value in enumerate(truth)]
    said(made, "small", cheap, [0.9 if k % 2 else 0.4 for k in range(N)], cost="0.001")
    said(made, "large", dear, [0.95 if k % 6 else 0.3 for k in range(N)], cost="0.02")
    compute_results(made.study)
    return made


def said(criterion: Criterion, name: str, values: list[str], sure: list[float], *, cost: str) -> None:
    judge = JudgeFactory(name=name, provider="imported")
    run = JudgeRunFactory(study=criterion.study, judge=judge, criteria=[criterion])
    details = [{"distribution": {value: share}} for value, share in zip(values, sure, strict=True)]
    add_verdicts(run, criterion, values, details=details, cost_usd=cost)


def cascade(*arguments: str) -> dict:
    out = StringIO()
    call_command("cascade", "--study", "known", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as raised:
        cascade(*arguments)
    assert raised.value.returncode == 2
    return str(raised.value)


def test_what_each_judge_keeps_and_what_it_costs(criterion):
    document = cascade("--judges", "small,large")
    found = document["criteria"]["done"]
    small, large = found["stages"]
    assert (small["reached"], small["kept"]) == (N, N // 2)
    assert large["reached"] <= N // 2
    assert found["coverage"]["value"] == pytest.approx((small["kept"] + large["kept"]) / N)
    assert found["agreement"]["value"] == 1
    assert found["cost_per_item_usd"] == pytest.approx(0.001 + 0.02 * large["reached"] / N)
    assert [one["judges"] for one in found["alone"]] == [["small"], ["large"]]
    assert found["alone"][1]["cost_per_item_usd"] == pytest.approx(0.02)
    assert found["cost_per_item_usd"] < found["alone"][1]["cost_per_item_usd"]


def test_what_is_left_becomes_a_study(criterion):
    document = cascade("--judges", "small,large", "--escalate", "Left over")
    made = Escalation.objects.get()
    assert document["escalated"] == {"study": "Left over", "items": document["left_to_people"]}
    assert made.target.items.count() == document["left_to_people"] > 0
    assert made.judge.name == "large"


@pytest.fixture
def graded(criterion) -> Criterion:
    """The cheap judge is least sure of most that it gets wrong, so that its test leaves that to the dear one.

    Without a label and left: items 200, 208, …, 232, which its test has looked at, and 204, 210, 222, 228, 234, of
    which neither is sure.
    """
    rows = Judgment.objects.filter(run__judge__name="small").select_related("item")
    unsure = [row for row in rows if (row.item.position - 1) % 2 == 0 and (row.item.position - 1) % 8]
    for row in unsure:
        row.details = {"distribution": {row.value: 0.3}}
    Judgment.objects.bulk_update(unsure, ["details"])
    return criterion


def people_decide(made: Escalation) -> None:
    """Every item that was left gets its true label."""
    places = dict(made.study.items.values_list("dialogue_id", "position"))
    dialogues = made.target.items.order_by("position").values_list("dialogue_id", flat=True)
    truth = ["yes" if (places[pk] - 1) % 3 else "no" for pk in dialogues]
    people_say(made.target.criteria.get(), {"erin": truth})


def test_what_people_say_of_it_comes_back_to_the_cascade(graded):
    cascade("--judges", "small,large", "--target", "0.8", "--escalate", "Left over")
    made = Escalation.objects.get()
    before = cascade("--judges", "small,large")["on_record"]["criteria"]["done"]
    assert (before["labelled"], before["combined"]) == (0, None)

    people_decide(made)

    found = cascade("--judges", "small,large")["on_record"]
    back = found["criteria"]["done"]
    assert (found["judges"], found["delta"], back["labelled"]) == (["small", "large"], 0.05, 10)
    assert found["limits"] == {"small": {"done": [0.9, 0.4]}, "large": {"done": [0.95, 0.3]}}
    assert back["confirmed"]["value"] == 0.4, "the dear judge is right on 200, 208, 224 and 232"
    assert back["combined"] == pytest.approx(2 / 3), "people's label, or the verdict of the stage that keeps the item"
    evidence = StudyData.load(graded.study)
    assert escalation.newest(graded.study, evidence.judge("large")) is None, "it is the cascade's, not the judge's"


@pytest.mark.any_database
@pytest.mark.long
def test_certificate_and_report_speak_of_it(graded):
    cascade("--judges", "small,large", "--target", "0.8", "--escalate", "Left over")
    people_decide(Escalation.objects.get())
    evidence = StudyData.load(graded.study)
    found = {
        one.judge.name: one
        for one in assessment.assess_judges(by=None, evidence=evidence, asked=AssessmentRequest())[0]
    }

    for name in ("small", "large"):
        sealed = certificates.issue(by=None, found=found[name])
        content = sealed.content["cascade"]
        assert (content["judges"], content["target_agreement"]) == (["small", "large"], 0.8)
        assert content["limits"][name]["done"][0] == {"small": 0.9, "large": 0.95}[name]
        assert certificate_checks.check(certificates.document(sealed)).state == "holds"

    document = report.describe_judges(evidence, list(found.values()))
    assert document["cascade"]["judges"] == ["small", "large"]
    assert document["cascade_on_record"]["criteria"]["done"]["combined"] == pytest.approx(2 / 3)
    assert "In the cascade small, then large each judge keeps" in document["methods"]["text"]
    html, tex = report.to_html(document), report.FORMATS["latex"][1](document)
    assert "items were escalated to people in" in html
    assert "small, then large" in tex


def test_an_unknown_cost_is_unknown(criterion):
    Judgment.objects.filter(run__judge__name="large").update(cost_usd=None)
    found = cascade("--judges", "small,large")["criteria"]["done"]
    assert found["cost_per_item_usd"] is None
    assert found["cost_reason"] == "what a judgment of large costs is not known"


def test_answers_used_again_say_nothing_of_the_cost(criterion):
    Judgment.objects.filter(run__judge__name="small").update(details={"cached": True}, cost_usd=0)
    assert cascade("--judges", "small,large")["criteria"]["done"]["cost_per_item_usd"] is None


def test_in_words(criterion):
    out = StringIO()
    call_command("cascade", "--study", "Known", "--judges", "small,large", stdout=out)
    assert "small, then large" in out.getvalue()
    assert "are escalated to people" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judges", "small"), "2 to 5 judges; there are 1"),
        (("--judges", "small,small"), "stands in the cascade twice"),
        (("--judges", "small,nobody"), "no judge called 'nobody'"),
        (("--judges", "small,large", "--target", "1.5"), "between 0 and 1"),
        (("--judges", "small,large", "--criterion", "tea"), "not a criterion of all of these judges"),
    ],
)
def test_bad_input(criterion, arguments, message):
    assert message in refused(*arguments)


def test_judges_of_different_criteria(criterion):
    other = CriterionFactory(study=criterion.study, key="other", yes_no=True)
    said(other, "third", ["yes"] * N, [0.5] * N, cost="0")
    assert "no criterion that all of these judges have judged" in refused("--judges", "small,third")


class TestPage:
    @pytest.fixture
    def page(self, criterion, client):
        client.force_login(ResearcherFactory())
        return reverse("calibration", args=["known"])

    @pytest.mark.any_database
    def test_the_cheapest_two_judges_stand_there(self, client, page):
        text = " ".join(client.get(page).content.decode().split())
        assert "small, then large" in text
        assert "large alone" in text

    def test_others_may_be_asked_for(self, client, page, criterion):
        pks = {run.judge.name: run.judge_id for run in criterion.study.judge_runs.select_related("judge")}
        response = client.get(page, {"judge": [pks["large"], pks["small"]], "target": "0.8"})
        assert response.context["cascade"]["document"]["judges"] == ["large", "small"]
        assert response.context["cascade"]["document"]["criteria"]["done"]["target_agreement"] == 0.8

    @pytest.mark.parametrize("typed", ["tea", "2", "", "nan"])
    def test_a_bad_target_is_said(self, client, page, typed):
        response = client.get(page, {"target": typed})
        assert response.status_code == 200
        assert "There is no cascade" in response.content.decode()

    def test_the_probability_of_failing_may_be_asked_for(self, client, page):
        found = client.get(page, {"delta": "0.2"}).context["cascade"]
        assert (found["delta"], found["document"]["delta"]) == ("0.2", 0.2)
        assert client.get(page).context["cascade"]["delta"] == "0.05"

    @pytest.mark.any_database
    def test_what_is_left_becomes_a_study(self, client, page, criterion):
        pks = {run.judge.name: run.judge_id for run in criterion.study.judge_runs.select_related("judge")}
        asked = {"judge": [pks["small"], pks["large"]], "target": "0.9", "delta": "0.05", "overlap": "2"}
        made = client.post(reverse("cascade_escalate", args=["known"]), {**asked, "name": "Left by two"})
        assert made["Location"] == "/studies/left-by-two/"
        target = Escalation.objects.get().target
        assert target.overlap == 2
        people_decide(Escalation.objects.get())
        text = " ".join(client.get(page).content.decode().split())
        assert f"{target.items.count()} items were escalated to people in" in text

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"judge": ["9999", "x"]}, "a cascade has 2 to 5 judges; there are 0"),
            ({"target": "tea"}, "is not a number"),
            ({"delta": "2"}, "must be between 0 and 1"),
            ({"name": ""}, "name"),
        ],
    )
    def test_what_cannot_be_made_is_said(self, client, page, criterion, wrong, message):
        pks = list(criterion.study.judge_runs.order_by("judge__name").values_list("judge_id", flat=True))
        asked = {"judge": pks, "target": "0.9", "delta": "0.05", "name": "Left", **wrong}
        response = client.post(reverse("cascade_escalate", args=["known"]), asked, follow=True)
        assert response.redirect_chain
        assert message in response.content.decode()
        assert not Escalation.objects.exists()

    def test_a_bad_judge_is_as_if_it_were_not_there(self, client, page):
        assert client.get(page, {"judge": ["9999", "x"]}).context["cascade"]["document"]["judges"] == ["small", "large"]
