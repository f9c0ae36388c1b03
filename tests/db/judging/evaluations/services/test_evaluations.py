"""Evaluations: cases drawn, runs made, and kept apart from what judges say beside people."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.studies.queries import ratings as people
from core.errors import InputError
from judging.assessment.queries import items, ratings
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.steps import judge_steps
from judging.evaluations.services import evaluations
from judging.evaluations.services.evaluations import Drawing
from judging.judges.evaluation_settings import Setting
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import labels, runs as run_queries
from tests.support import factories
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.judging import judged, scripted

pytestmark = pytest.mark.django_db


def test_an_evaluation_holds_the_cases_that_models_are_scored_on():
    benchmark = benchmark_with("1212")
    benchmark.cases.filter(pk=benchmark.cases.first().pk).update(excluded_reason="contradicts another")

    evaluation = evaluations.begin(by=None, benchmark=benchmark)

    assert evaluation.study.items.count() == 3
    assert (evaluation.number, evaluation.study.state, evaluation.study.kind) == (1, "closed", "pair")
    assert [criterion.values for criterion in evaluation.study.criteria.all()] == [["1", "2"]]
    assert evaluations.begin(by=None, benchmark=benchmark).number == 2


def test_a_draw_is_even_by_tier_and_the_same_for_a_seed():
    benchmark = benchmark_with("1" * 12, tiers=("easy", "easy", "hard"))

    def drawn(seed):
        evaluation = evaluations.begin(by=None, benchmark=benchmark, drawing=Drawing(size=6, seed=seed))
        return evaluation, list(evaluation.study.items.order_by("position").values_list("pair", flat=True))

    evaluation, first = drawn(1)
    strata = list(evaluation.study.items.order_by("stratum").values_list("stratum", "inclusion_probability"))
    assert strata == [("easy", 3 / 8)] * 3 + [("hard", 3 / 4)] * 3
    assert drawn(1)[1] == first
    assert drawn(2)[1] != first
    assert evaluation.drawn == {"size": 6, "seed": 1}


@pytest.mark.parametrize(
    ("drawing", "n"),
    [(Drawing(tiers=("hard",)), 2), (Drawing(kinds=("general",)), 4), (Drawing(longest=200), 4)],
)
def test_cases_can_be_narrowed(drawing, n):
    assert evaluations.begin(by=None, benchmark=benchmark_with("1212"), drawing=drawing).study.items.count() == n


@pytest.mark.parametrize(
    ("drawing", "field"),
    [
        (Drawing(size=5), "size"),
        (Drawing(size=0), "size"),
        (Drawing(longest=10), "cases"),
        (Drawing(kinds=("specific",)), "cases"),
        (Drawing(split="test"), "cases"),
    ],
)
def test_a_draw_that_cannot_be_made_leaves_nothing_behind(drawing, field):
    with pytest.raises(InputError) as error:
        evaluations.begin(by=None, benchmark=benchmark_with("1212"), drawing=drawing)
    assert error.value.field == field
    assert not Evaluation.objects.exists()


def test_each_judge_and_setting_is_a_run_that_records_its_setting():
    settings = [Setting(), Setting("memories", k=2)]
    evaluation = evaluated(benchmark_with("12"), scripted(), *settings)

    runs = evaluation.runs.order_by("pk")
    assert [run.setting for run in runs] == [setting.to_json() for setting in settings]
    assert {run.kind for run in runs} == {JudgeRun.Kind.EVALUATION}
    assert [run.judgments.count() for run in runs] == [4, 4]  # two cases in both orders
    assert runs[0].input_hash != runs[1].input_hash


def test_asking_again_asks_nothing_twice():
    benchmark, judge = benchmark_with("12"), scripted()
    evaluation = evaluated(benchmark, judge)
    evaluated(benchmark, judge, Setting(), Setting("profile"), evaluation=evaluation)

    assert [run.setting["shows"] for run in evaluation.runs.order_by("pk")] == ["none", "profile"]


def test_a_stopped_run_goes_on():
    benchmark, judge = benchmark_with("12"), scripted()
    evaluation = evaluations.begin(by=None, benchmark=benchmark)
    (run,) = evaluations.ask(by=None, evaluation=evaluation, judges=[judge], settings=[Setting()], queue=False)
    JudgeRun.objects.filter(pk=run.pk).update(stopped_at=run.created_at)

    evaluated(benchmark, judge, evaluation=evaluation)

    run.refresh_from_db()
    assert (run.state, run.judgments.count()) == ("finished", 4)


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        (Setting("everything"), "shows"),
        (Setting("memories", k=0), "k"),
        (Setting("profile", without=("demographics.Agee",)), "without"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_before_a_run_is_made(setting, field):
    evaluation = evaluations.begin(by=None, benchmark=benchmark_with("12"))
    with pytest.raises(InputError) as error:
        evaluations.ask(by=None, evaluation=evaluation, judges=[scripted()], settings=[Setting(), setting], queue=False)
    assert error.value.field == field
    assert not JudgeRun.objects.exists()


def test_an_evaluation_without_runs_can_be_discarded():
    benchmark = benchmark_with("12")
    evaluation = evaluations.begin(by=None, benchmark=benchmark)
    evaluations.discard(by=None, evaluation=evaluation)
    assert not Evaluation.objects.exists()
    kept = evaluated(benchmark, scripted())
    with pytest.raises(InputError, match="has runs"):
        evaluations.discard(by=None, evaluation=kept)


# kept apart


@pytest.fixture
def rated():
    """An evaluation whose judge also rates the same study in the ordinary way, and says the other response there."""
    judge = scripted(otherwise="2")
    evaluation = evaluations.begin(by=None, benchmark=benchmark_with("1111"))
    study, criterion = evaluation.study, evaluation.study.criteria.get()
    for item in study.items.all():
        slot = factories.AssignmentFactory(item=item, submitted=True)
        factories.AnnotationFactory(assignment=slot, criterion=criterion, value="2")
    ordinary = judged(study, judge)
    other = scripted(otherwise="1")
    other.name = judge.name
    other.version = 2
    other.save()
    evaluated(evaluation.benchmark, judge, Setting(), evaluation=evaluation)
    evaluated(evaluation.benchmark, other, Setting(), evaluation=evaluation)
    return evaluation, judge, ordinary


def test_runs_of_an_evaluation_do_not_speak_for_the_judge(rated):
    evaluation, judge, ordinary = rated
    study, criterion = evaluation.study, evaluation.study.criteria.get()

    runs = ratings.runs_that_count(study)
    assert {run.pk for run in runs.values()} == {ordinary.pk}
    (said,) = ratings.load_study(study)[criterion.pk]
    assert (said.name, said.run_id) == (str(judge), ordinary.pk)
    table = people.load_criterion(criterion).table
    assert set(said.codes(table).tolist()) == {1}
    evidence = StudyData.load(study, "").load_judge(judge)
    assert [run.pk for run in evidence.runs.values()] == [ordinary.pk]


def test_runs_of_an_evaluation_are_not_listed_exported_or_combined_as_a_judges(rated):
    evaluation, _, ordinary = rated
    study = evaluation.study

    assert {row.judge_run for row in labels.load_judges(study)} == {ordinary.pk}
    assert {one.run_id for one in items.load_judgments(study.items.first())} == {ordinary.pk}
    assert [run.pk for run in run_queries.combinable(study)] == [ordinary.pk]
    assert next(iter(judge_steps([study])))[1].count == "1"


def test_an_ordinary_run_is_never_continued_by_an_evaluation_or_the_other_way(rated):
    evaluation, judge, ordinary = rated
    JudgeRun.objects.filter(evaluation=evaluation).update(finished_at=None)
    run = evaluation.runs.first()
    found = run_queries.find_unfinished_like(
        evaluation.study,
        judge,
        input_hash=run.input_hash,
        repeats=run.repeats,
        order_policy=run.order_policy,
        seed=run.seed,
    )
    assert found is None
    assert ordinary.kind == JudgeRun.Kind.ORDINARY


def test_the_database_knows_which_runs_belong_to_an_evaluation(rated):
    evaluation, _, ordinary = rated
    for wrong in ({"kind": "evaluation"}, {"evaluation": evaluation}):
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeRun.objects.filter(pk=ordinary.pk).update(**wrong)


def test_what_others_said_of_an_answer_is_of_the_same_evaluation(rated):
    from judging.runs.queries.judgments import list_others

    evaluation, _, ordinary = rated
    mine = Judgment.objects.filter(run=ordinary).order_by("pk").first()
    assert {one.run.kind for one in list_others(mine)} <= {"ordinary"}
    theirs = Judgment.objects.filter(run__evaluation=evaluation).order_by("pk").first()
    assert {one.run.kind for one in list_others(theirs)} == {"evaluation"}
