"""Criteria of responses and of turns through all that rests on a judge beside people."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.corpus.models import ResponsePair
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position
from core.accounts.models.users import User
from judging.assessment.options import AssessmentOptions, CascadeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import (
    assessment,
    cascades,
    certificate_checks,
    certificates,
    disagreements,
    escalation,
    hold_out,
    recalibration,
    report,
)
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.runs.models.runs import JudgeRun, Judgment
from tests.db.judging.assessment.services.parts import (
    LABELLED,
    NUMBERS,
    N,
    add_labels,
    add_run,
    build_single_responses,
    build_study,
    draw_values,
    names,
    open_rated_study,
)
from tests.support.factories import (
    CriterionFactory,
    JudgeFactory,
    ResearcherFactory,
)
from tests.support.judging import judged, scripted
from tests.support.people import OpenStudy

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

QUICK = AssessmentRequest(calibration=AssessmentOptions(bootstrap=200, seed=4))
NOUNS = {"response": ("response", "item"), "assistant_turn": ("turn", "dialogue"), "user_turn": ("turn", "dialogue")}


@pytest.fixture
def judge() -> Any:
    return JudgeFactory(name="gpt", provider="imported")


@pytest.fixture(params=["response", "assistant_turn", pytest.param("user_turn", marks=pytest.mark.long)])
def criterion(request: Any, judge: Any) -> Criterion:
    return build_study(request.param, judge)


def assess(criterion: Criterion, name: str = "gpt", asked: AssessmentRequest = QUICK) -> Assessment:
    evidence = StudyData.load(criterion.study)
    return assessment.assess_judge(by=None, evidence=evidence.load_judge(evidence.judge(name)), asked=asked)


class TestFigures:
    """On responses they are those of the same data with one item for each response and the items as clusters."""

    @pytest.fixture
    def both(self, judge: Any) -> tuple[Assessment, Assessment]:
        return assess(build_study("response", judge)), assess(build_single_responses(judge))

    @pytest.mark.long
    def test_of_the_calibration(self, both: tuple[Assessment, Assessment]) -> None:
        parts, single = (found.calibration.result["criteria"]["helpful"] for found in both)
        assert parts["labels"]["n_items"] == 2 * N
        assert parts["labels"]["clusters"] == LABELLED
        (by,) = [parts["groups"].pop("assistant")]
        assert by["corrected"].keys() == {"m1", "m2"}, "each response counts for the model that wrote it"
        for one in (parts, single):
            for key in ("run", "groups", "dependence"):
                del one[key]
        assert parts == single

    @pytest.mark.long
    def test_of_the_audit(self, both: tuple[Assessment, Assessment]) -> None:
        parts, single = (found.audit.result["criteria"]["helpful"] for found in both)
        mine = {one["name"]: one for one in parts["probes"]}
        theirs = {one["name"].replace("assistants", "assistant"): one for one in single["probes"]}
        assert (
            mine.keys()
            == theirs.keys()
            >= {"leniency", "length", "central_tendency", "subgroup:assistant"} - {"subgroup:assistant"}
        )
        same = ("effect", "test", "p_value", "minimum_detectable_effect")
        assert {k: [one[name] for name in same] for k, one in mine.items()} == {
            k: [one[name] for name in same] for k, one in theirs.items()
        }
        assert parts["not_probed"] == "Each response is shown alone, so that it has no position."
        assert single["not_probed"] == ""

    @pytest.mark.long
    def test_of_the_verdict(self, both: tuple[Assessment, Assessment]) -> None:
        (parts,), (single,) = (found.verdicts for found in both)
        assert parts.whole.decision == single.whole.decision
        assert parts.kappa == single.kappa
        assert parts.kappa["low"] is not None


@pytest.mark.long
def test_it_goes_from_calibration_to_escalation(criterion: Criterion, client: Client) -> None:
    noun, whole = NOUNS[criterion.unit]
    found = assess(criterion)
    document = found.calibration.result["criteria"]["helpful"]
    assert (document["labels"]["n_items"], document["n_labelled"]) == (2 * N, 2 * LABELLED)
    said = document["dependence"]["message"]
    assert said.startswith(f"Each {noun} counts by itself. Intervals treat clusters as independent ({N} {whole}s)")
    assert said.endswith("items weighted by 1 / inclusion probability.")
    assert document["alt_test"]["winning_rate"] is not None
    assert document["gained"]["value"] is not None

    issued = certificates.issue(by=None, found=found)
    assert certificate_checks.check(certificates.document(issued)).holds
    assert issued.content["criteria"]["helpful"]["dependence"]["message"] == said
    assert issued.content["left_out"] == []

    written = report.build_report(by=None, evidence=StudyData.load(criterion.study), asked=QUICK)
    assert StudyData.load(criterion.study).describe_dependence() == said
    assert list(written["people"]) == ["helpful"]
    assert f"Asked of {criterion.get_unit_display()}, which counts by itself: Helpful." in written["methods"]["text"]
    assert written["judges"][str(found.judge)]["verdicts"]["helpful"]["decision"] == found.decision
    assert found.audit.result["criteria"]["helpful"]["not_probed"] in report.to_html(written)

    doubtful = escalation.find_escalated(found, 0.8).doubtful["helpful"]
    assert doubtful
    assert all(to_position(name) > LABELLED for name in doubtful)
    made = escalation.escalate(by=None, found=found, name="Left", target=0.8)
    assert made.target.items.count() == len({to_position(name) for name in doubtful}), "an item once"
    assert made.target.samples.get().filters == {"left_to_people_in": ["parts"], "helpful": list(doubtful)}
    assert made.target.criteria.get().unit == criterion.unit

    client.force_login(ResearcherFactory())
    for name, args in (
        ("results", ["parts"]),
        ("judge_verdict", ["parts", found.judge.pk]),
        ("criterion_verdict", ["parts", found.judge.pk, "helpful"]),
        ("report", ["parts"]),
        ("calibration", ["parts"]),
        ("judge_improve", ["parts", found.judge.pk]),
        ("judge_plan", ["parts", found.judge.pk]),
        ("certificate_detail", [issued.sha256]),
        ("study_detail", ["left"]),
    ):
        page = client.get(reverse(name, args=args))
        assert page.status_code == 200, name
        if name in ("criterion_verdict", "certificate_detail"):
            assert said in page.content.decode(), name
        if name == "results":
            assert f"n counts {noun}s" in page.content.decode()


def test_what_people_decide_comes_back_to_the_part(criterion: Criterion) -> None:
    found = assess(criterion)
    made = escalation.escalate(by=None, found=found, name="Left", target=0.8)
    subject = f"{criterion.study.kind}_id"
    place = dict(criterion.study.items.values_list(subject, "position"))
    numbers, said = NUMBERS[criterion.unit], draw_values(names(NUMBERS[criterion.unit]), 0.35, 9)
    there = list(made.target.items.values_list("position", subject))
    agree = {f"{position}.{n}": said[f"{place[pk]}.{n}"] for position, pk in there for n in numbers}
    add_labels(made.target.criteria.get(), "erin", 1, agree)
    back = escalation.summarise_return(made, found.evidence)
    assert (back["items"], back["criteria"]["helpful"]["labelled"]) == (len(there), 2 * len(there))
    assert back["criteria"]["helpful"]["confirmed"]["value"] == 1, "they say what the judge said of each part"


@pytest.mark.each_database
def test_a_run_of_another_unit_is_refused_with_the_run_to_make(criterion: Criterion) -> None:
    JudgeRun.objects.update(unit="item")
    with pytest.raises(assessment.NothingToAssessError) as refused:
        assess(criterion)
    asked, rates = criterion.get_unit_display(), JudgeRun.Unit("turn" if criterion.of_turns else "response").label
    do = f"Start a run of the judge in which it rates {rates}."
    if criterion.unit == Criterion.Unit.USER_TURN:
        do = "Import its judgments of the user's turns: judges that run here rate those of the assistant."
    said = f"Helpful: Asked of {asked}, and the judge's run rates the whole item. {do}"
    assert refused.value.message == said


def test_a_judge_of_parts_is_refused_where_people_rate_items(criterion: Criterion) -> None:
    whole = CriterionFactory(study=criterion.study, key="done", name="Done", yes_no=True)
    add_labels(whole, "erin", 4, {str(position): "yes" for position in range(1, 11)})
    run = JudgeRun.objects.get()
    run.criteria.add(whole)
    (left,) = assess(criterion).evidence.left_out
    assert left["criterion"] == "done"
    assert left["reason"].endswith("Start a run of the judge in which it rates the whole item.")


@pytest.mark.long
def test_unlabelled_parts_of_partly_labelled_items_are_unlabelled(criterion: Criterion) -> None:
    first = NUMBERS[criterion.unit][0]
    Annotation.objects.filter(turn=first).delete()
    labels = assess(criterion).calibration.result["criteria"]["helpful"]
    assert (labels["n_labelled"], labels["n_unlabelled"]) == (LABELLED, 2 * N - LABELLED)


def test_an_adjudication_is_of_the_part(criterion: Criterion) -> None:
    first, second = NUMBERS[criterion.unit]
    item = criterion.study.items.get(position=3)
    for turn, value in ((first, "1"), (second, "4")):
        Adjudication.objects.create(
            item=item, criterion=criterion, turn=turn, value=value, decided_by=User.objects.get(username="ada")
        )
    people = StudyData.load(criterion.study).people[criterion.pk]
    rows = {name: row for row, name in enumerate(people.table.items)}
    assert [people.gold[rows[f"3.{turn}"]] for turn in (first, second)] == [0, 3]
    assert (people.gold >= 0).sum() == 2


@pytest.mark.long
def test_disagreements_name_the_part(criterion: Criterion, client: Client) -> None:
    found = assess(criterion)
    rows = disagreements.list_disagreements(found.evidence)
    numbers = NUMBERS[criterion.unit]
    assert {row.turn for row in rows} == set(numbers)
    first = next(row for row in rows if row.turn == numbers[1])
    out = io.StringIO()
    call_command("disagreements", study="Parts", judge="gpt", json=True, stdout=out)
    said = json.loads(out.getvalue())["disagreements"]
    (mine,) = [one for one in said if (one["item"], one["turn"]) == (first.position, first.turn)]
    judgment = Judgment.objects.get(item__position=first.position, turn=first.turn)
    assert (mine["judge"], mine["judgment"]) == (judgment.value, judgment.pk)
    client.force_login(ResearcherFactory())
    page = client.get(reverse("judge_improve", args=["parts", found.judge.pk])).content.decode()
    assert f"{criterion.part_noun} {numbers[0]}" in page


@pytest.mark.long
def test_a_recalibrated_judge_rates_the_same_parts(criterion: Criterion) -> None:
    run = recalibration.apply(by=None, found=assess(criterion), anyway=True)
    assert run.unit == ("turn" if criterion.of_turns else "response")
    assert run.judgments.count() == 2 * N
    again = assess(criterion, run.judge.name)
    assert again.calibration.result["criteria"]["helpful"]["n_labelled"] == 2 * LABELLED


def test_drift_is_probed_on_parts(criterion: Criterion) -> None:
    rows, unit = names(NUMBERS[criterion.unit]), JudgeRun.objects.get().unit
    newer = JudgeFactory(name="gpt", version=2, provider="imported")
    add_run(criterion, newer, draw_values(rows, 0.9, 30), of=unit, sure=dict.fromkeys(rows, 0.7))
    probes = assess(criterion, "gpt v2").audit.result["criteria"]["helpful"]["probes"]
    drift = next(one for one in probes if one["name"] == "drift")
    assert drift["effect"]["n_items"] == 2 * LABELLED


@pytest.mark.long
def test_a_cascade_leaves_items_once(criterion: Criterion) -> None:
    rows = names(NUMBERS[criterion.unit])
    said = draw_values(rows, 1.2, 12)
    other = JudgeFactory(name="small", provider="imported")
    unit = "turn" if criterion.of_turns else "response"
    add_run(criterion, other, said, of=unit, sure=dict.fromkeys(rows, 0.6))
    evidence = StudyData.load(criterion.study)
    each = evidence.load_judges([evidence.judge("small"), evidence.judge("gpt")])
    options = CascadeOptions(target=0.8)
    found = cascades.compute_cascade(each, options)
    left = cascades.list_left(each, found)["helpful"]
    assert left
    assert all(to_position(name) > LABELLED for name in left)
    document = cascades.document(each, found)
    alone = [one["cost_per_item_usd"] for one in document["criteria"]["helpful"]["alone"]]
    assert alone == pytest.approx([0.01, 0.01]), "what one verdict costs, not an item of two"
    assert document["left_to_people"] == len({to_position(name) for name in left})
    made = cascades.escalate(by=None, each=each, found=found, options=options, name="Left")
    assert made.target.items.count() == document["left_to_people"]


def test_a_held_out_part_splits_items_not_their_parts(criterion: Criterion) -> None:
    hold_out.hold_out(by=None, study=criterion.study, share=0.3)
    there = {part: StudyData.load(criterion.study, part) for part in ("development", "held-out")}
    positions = {part: {to_position(n) for n in data.rows[criterion.unit].names} for part, data in there.items()}
    assert not positions["development"] & positions["held-out"]
    for part, data in there.items():
        assert positions[part] == set(map(int, data.material.names))
        assert data.rows[criterion.unit].n == 2 * data.material.n


@pytest.mark.long
def test_criteria_of_items_and_of_parts_stand_beside_each_other(criterion: Criterion) -> None:
    whole = CriterionFactory(study=criterion.study, key="done", name="Done", position=5)
    rows = [str(position) for position in range(1, N + 1)]
    for slot, who in enumerate(("ada", "ben", "cleo"), start=4):
        add_labels(whole, f"{who}-whole", slot, dict(list(draw_values(rows, 0.3, slot).items())[:LABELLED]))
    judge = JudgeRun.objects.get().judge
    add_run(whole, judge, draw_values(rows, 0.4, 20), of="item", sure=dict.fromkeys(rows, 0.8))
    found = assess(criterion)
    sizes = {key: one["labels"]["n_items"] for key, one in found.calibration.result["criteria"].items()}
    assert sizes == {"helpful": 2 * N, "done": N}
    probes = found.audit.result["criteria"]
    assert not any(one["name"] == "halo" for each in probes.values() for one in each["probes"])
    noun, _ = NOUNS[criterion.unit]
    said = StudyData.load(criterion.study).describe_dependence()
    assert said.count("Intervals treat") == 2
    assert said.index("Intervals treat") < said.index(f"Each {noun} counts by itself.")
    doubtful = escalation.find_escalated(found, 0.8)
    assert {len(name.partition(".")[2]) for name in doubtful.doubtful["done"]} <= {0}
    assert doubtful.positions == sorted({to_position(name) for names in doubtful.doubtful.values() for name in names})
    made = escalation.escalate(by=None, found=found, name="Left", target=0.8)
    assert "done" not in made.target.samples.get().filters, "of whole items the items themselves say it"


@pytest.mark.long
@pytest.mark.parametrize("of", ["response", "assistant_turn"])
@pytest.mark.each_database
def test_simulated_annotators_and_a_scripted_judge(open_study: OpenStudy, of: str) -> None:
    study, texts = open_rated_study(open_study, of)
    run = judged(study, scripted(where=texts), unit="response" if of == "response" else "turn")
    assert run.judgments.count() == 60
    found = assess(study.criteria.get(), str(run.judge))
    document = found.calibration.result["criteria"]["helpful"]
    assert (document["labels"]["n_items"], document["n_labelled"], document["n_unlabelled"]) == (60, 40, 20)
    assert document["agreement"]["mean_weighted_cohen_kappa"]["value"] > 0.7
    leniency = next(one for one in found.audit.result["criteria"]["helpful"]["probes"] if one["name"] == "leniency")
    assert leniency["effect"]["n_items"] == 40
    assert certificate_checks.check(certificates.document(certificates.issue(by=None, found=found))).holds
    html = report.to_html(report.build_report(by=None, evidence=StudyData.load(study), asked=QUICK))
    assert "Helpful" in html
    made = escalation.escalate(by=None, found=found, name="Left", target=0.95)
    left = set(made.target.items.values_list(f"{study.kind}__external_id", flat=True))
    assert left == {f"i{k}" for k in range(21, 31)}, "nothing is guaranteed by so few labels"


@pytest.mark.long
@pytest.mark.each_database
def test_equal_responses_that_people_label_differently_lead_to_their_items(judge: Any, client: Client) -> None:
    criterion = build_study("response", judge)
    one, two = (ResponsePair.objects.get(external_id=f"parts-{k}") for k in (1, 2))
    two.question, two.response_2 = one.question, one.response_1
    two.save()
    Annotation.objects.filter(assignment__item__position=1, turn=1).update(value="1")
    Annotation.objects.filter(assignment__item__position=2, turn=2).update(value="4")
    copies = assess(criterion).audit.result["criteria"]["helpful"]["duplicates"]
    assert copies["contradictory"] == [["1.1", "2.2"]]
    client.force_login(ResearcherFactory())
    page = client.get(reverse("criterion_verdict", args=["parts", judge.pk, "helpful"])).content.decode()
    assert f'<a href="{reverse("item_detail", args=["parts", 2])}">2.2</a>' in page
