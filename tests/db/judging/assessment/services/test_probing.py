"""Probe runs on their way into audits and verdicts."""

import numpy as np
import pytest

from annotation.studies.models.studies import Criterion
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, probes
from judging.assessment.services.assessment import AssessmentRequest
from judging.assessment.services.probes import ProbeOptions
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import runs, work
from tests.db.judging.assessment.services.judged import QUICK
from tests.support.factories import CriterionFactory
from tests.support.judging import judged, scripted
from tests.support.labelled import people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database, pytest.mark.long]
OBEYS = {"evaluator": "4", "grader": "4", "rates this": "4"}


@pytest.fixture
def criterion() -> Criterion:
    study = with_items(40, name="Known", slug="known")
    made = CriterionFactory(study=study, key="personalization")
    rng = np.random.default_rng(1)
    people_say(made, {name: [str(v) for v in rng.integers(1, 5, 40)] for name in ("ann", "ben")})
    return made


def answers(criterion: Criterion) -> dict[str, dict[str, str]]:
    items = criterion.study.items.select_related("dialogue").order_by("position")
    return {criterion.key: {item.dialogue.external_id: str(1 + item.position % 3) for item in items}}


def probe(criterion: Criterion, judge: Judge, *alterations: str, n: int = 40) -> JudgeRun:
    options = ProbeOptions(alterations=alterations, n=n)
    plan = probes.plan(study=criterion.study, judge=judge, options=options)
    run = runs.make(by=None, plan=plan, queue=False)
    for _ in work.work_through(run):
        pass
    return run


def audit(criterion: Criterion, judge: Judge) -> dict[str, dict]:
    evidence = StudyData.load(criterion.study)
    found = assessment.assess_judge(
        by=None, evidence=evidence.load_judge(judge), asked=AssessmentRequest(calibration=QUICK)
    )
    return {one["name"]: one for one in found.audit.result["criteria"][criterion.key]["probes"]}


def test_a_judge_that_obeys_is_found_and_one_that_does_not_is_not(criterion):
    weak, firm = scripted(answers=answers(criterion), where=OBEYS), scripted(answers=answers(criterion))
    for judge in (weak, firm):
        judged(criterion.study, judge)
        probe(criterion, judge, "injection:note", "invariance:bullets")
    found = audit(criterion, weak)
    assert found["injection:note"]["found"] is True
    assert found["injection:note"]["details"]["obeyed"]["value"] == 1
    # scores 1, 2 and 3 in turn, all moved to 4
    moved = np.mean([4 - (1 + position % 3) for position in range(1, 41)])
    assert found["injection:note"]["effect"]["value"] == pytest.approx(moved)
    assert found["invariance:bullets"]["found"] is False
    clean = audit(criterion, firm)
    assert clean["injection:note"]["found"] is False
    assert clean["injection:note"]["effect"]["value"] == 0
    assert clean["injection:note"]["minimum_detectable_effect"] is not None


def test_a_planted_weakness_keeps_a_judge_from_replacing_people(criterion):
    judge = scripted(answers=answers(criterion), where=OBEYS)
    judged(criterion.study, judge)
    probe(criterion, judge, "injection:note")
    evidence = StudyData.load(criterion.study)
    found = assessment.assess_judge(
        by=None, evidence=evidence.load_judge(judge), asked=AssessmentRequest(calibration=QUICK)
    )
    (reason,) = [one for one in found.verdicts[0].whole.reasons if one.code == "biases"]
    assert not reason.met
    assert "injection:note" in reason.message


def test_without_probes_that_is_said(criterion):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    found = audit(criterion, judge)
    for family in ("injection", "invariance"):
        assert found[family]["found"] is None
        assert "run the probes" in found[family]["effect"]["reason"]


def test_a_run_that_is_not_finished_does_not_count(criterion):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    run = probe(criterion, judge, "injection:note")
    JudgeRun.objects.filter(pk=run.pk).update(finished_at=None)
    assert audit(criterion, judge)["injection"]["found"] is None


@pytest.mark.each_database
def test_all_copies_unscored(criterion):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    run = probe(criterion, judge, "injection:note")
    Judgment.objects.filter(run=run, alteration="injection:note").update(value="", unscored_reason="refusal")
    found = audit(criterion, judge)["injection:note"]
    assert found["found"] is None
    assert "0 items with a verdict on original, copy and repeat" in found["effect"]["reason"]
    assert found["details"]["unscored"]["value"] == 1


def test_a_constant_judge(criterion):
    judge = scripted(otherwise="4")
    judged(criterion.study, judge)
    probe(criterion, judge, "injection:note", "invariance:bullets")
    found = audit(criterion, judge)
    assert found["injection:note"]["found"] is False
    assert found["injection:note"]["details"]["obeyed"]["reason"] == "every item had the score asked for"
    assert found["invariance:bullets"]["effect"]["reason"] == "no interval: the data do not vary"


@pytest.mark.each_database
def test_what_could_not_be_altered_is_counted(criterion):
    study = criterion.study
    for item in study.items.select_related("dialogue").order_by("position")[:15]:
        item.dialogue.turns = [{"role": "user", "content": "My name is Ada. Book it."}, item.dialogue.turns[1]]
        item.dialogue.save()
    judge = scripted(answers=answers(criterion))
    judged(study, judge)
    probe(criterion, judge, "invariance:names")
    found = audit(criterion, judge)["invariance:names"]
    assert found["effect"]["n_items"] == 15
    assert found["details"]["nothing_to_alter"]["value"] == 25 / 40


@pytest.mark.each_database
def test_the_newest_finished_run_of_an_alteration_counts(criterion):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    old = probe(criterion, judge, "injection", n=40)
    Judgment.objects.filter(run=old, alteration__startswith="injection").update(value="4")
    probe(criterion, judge, "injection:note", n=30)
    found = audit(criterion, judge)
    assert found["injection:note"]["effect"]["n_items"] == 30
    assert found["injection:note"]["effect"]["value"] == 0
    assert found["injection:system"]["effect"]["value"] > 1


@pytest.mark.each_database
def test_new_probes_make_a_new_audit_and_leave_the_calibration(criterion):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    before = audit(criterion, judge)
    calibration = judge.calibrationruns.get().result["criteria"]
    probe(criterion, judge, "injection:note")
    assert "injection:note" in audit(criterion, judge)
    assert "injection:note" not in before
    assert judge.calibrationruns.latest().result["criteria"] == calibration


def test_queries_do_not_grow_with_probes(criterion, django_assert_num_queries):
    judge = scripted(answers=answers(criterion))
    judged(criterion.study, judge)
    for _ in range(3):
        probe(criterion, judge, "injection:note", n=20)
    with django_assert_num_queries(13):  # one more than without any probe
        evidence = StudyData.load(criterion.study)
        evidence.load_judges(evidence.judges())
