"""The document of an evaluation, with accuracies derived by hand."""

from __future__ import annotations

import json

import pytest

from annotation.agreement.options import IntervalOptions as Options
from annotation.benchmarks.models import BenchmarkCase
from annotation.benchmarks.queries.benchmarks import row
from annotation.benchmarks.services import versions
from annotation.benchmarks.services.datasheets import datasheet
from annotation.corpus.models import ResponsePair
from core.documents import drop_nan
from judging.evaluations.services import evaluations, results
from judging.judges.evaluation_settings import Setting
from judging.runs.models.evaluations import EvaluationResult
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services.leases import EVALUATION_TASK
from tests.support import factories
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.judging import scripted

pytestmark = pytest.mark.django_db

QUICK = Options(bootstrap=200)


def scripted_by_case(benchmark, said, **options):
    """A judge that says so of each case, in both orders; "A" names the side instead."""
    pairs = benchmark.cases.order_by("pk").values_list("pair__external_id", flat=True)
    return scripted(answers={"preference": dict(zip(pairs, said, strict=True))}, **options)


@pytest.fixture
def benchmark():
    """Gold 1, 2, 1, 2; tiers easy, hard, easy, hard; personas a, b, a, b."""
    return benchmark_with("1212")


def of(document, judge, table="accuracy", setting="none"):
    keys = [r["key"] for r in document["runs"] if r["judge"] == str(judge) and r["setting"]["shows"] == setting]
    return next(row for row in document[table] if row["key"] in keys)


def test_accuracy_by_tier_with_unscored_answers_beside_it(benchmark):
    judge = scripted_by_case(benchmark, ["1", "2", "2", "A"])
    # case 1 and 2 right, case 3 wrong, case 4 (gold 2) names the first response in AB and the second in BA: a half
    found = results.load_or_compute(evaluated(benchmark, judge), QUICK)

    cells = of(found, judge)["cells"]
    assert {name: cell["value"] for name, cell in cells.items() if " " not in name} == {
        "all": 0.625,
        "easy": 0.5,
        "hard": 0.75,
    }
    assert cells["all"]["n_items"] == 4
    assert cells["all"]["reason"].startswith("not enough evidence")
    orders = of(found, judge, "orders")
    assert orders["consistency"]["value"] == 0.75
    assert orders["both_right"]["value"] == 0.5
    assert orders["first"]["value"] == 5 / 8  # AB: 1, 2, 2, A -> 2 of 4 first; BA: 2 of case 2 and 3, A of case 4
    (run,) = found["runs"]
    assert (run["answers"], run["scored"], run["unscored"], run["expected"]) == (8, 8, 0, 8)


def test_unscored_answers_are_counted_with_their_reasons_and_are_not_wrong(benchmark):
    judge = scripted_by_case(benchmark, ["1", "2", "none of them", "2"])
    found = results.load_or_compute(evaluated(benchmark, judge), QUICK)
    (run,) = found["runs"]
    assert (run["scored"], run["unscored"], run["reasons"]) == (6, 2, {"off_scale": 2})
    assert of(found, judge)["cells"]["all"]["value"] == 1.0
    assert of(found, judge)["cells"]["all"]["n_items"] == 3


@pytest.mark.any_database
def test_models_and_settings_are_compared_within_the_same_cases(benchmark):
    good, bad = scripted_by_case(benchmark, "1212"), scripted_by_case(benchmark, "1222")
    evaluation = evaluated(benchmark, good, Setting(), Setting("profile"))
    evaluated(benchmark, bad, Setting(), evaluation=evaluation)
    found = results.load_or_compute(evaluation, QUICK)

    named = {run["key"]: (run["judge"], run["setting"]["shows"]) for run in found["runs"]}
    differences = {
        (one["what"], named[one["a"]], named[one["b"]]): one["cells"]["all"]["value"] for one in found["differences"]
    }
    first, second = sorted([str(good), str(bad)])
    sign = 1 if second == str(good) else -1
    assert differences == {
        ("settings", (str(good), "profile"), (str(good), "none")): 0.0,
        ("models", (second, "none"), (first, "none")): sign * 0.25,
    }


def test_a_field_left_out_is_compared_with_the_whole(benchmark):
    judge = scripted_by_case(benchmark, "1212")
    evaluation = evaluated(benchmark, judge, Setting("profile"), Setting("profile", without=("demographics.Age",)))
    found = results.load_or_compute(evaluation, QUICK)
    (one,) = found["differences"]
    named = {run["key"]: run["setting"]["without"] for run in found["runs"]}
    assert (one["what"], named[one["a"]], named[one["b"]]) == ("fields", ["demographics.Age"], [])
    assert one["cells"]["all"]["value"] == 0.0


def test_lines_of_chance_length_and_votes(benchmark):
    found = results.load_or_compute(evaluated(benchmark, scripted()), QUICK)
    lines = {one["name"]: one["cells"]["all"]["value"] for one in found["lines"]}
    assert lines["chance"] == 0.5
    assert lines["the longer response"] == 0.5  # response 1 is the longer one, and gold is 1, 2, 1, 2
    assert lines["human, leave one out"] == pytest.approx(8 / 9)


def test_a_tier_in_which_people_are_right_by_construction_is_warned_of(benchmark):
    benchmark.cases.filter(tier="easy").update(votes_1=9, votes_2=0, votes_tie=0)
    found = results.load_or_compute(evaluated(benchmark, scripted()), QUICK)
    assert [one.partition(":")[0] for one in found["warnings"]] == [
        "Human, leave one out, is 1 in the tier easy by construction"
    ]


def test_unknown_votes_and_kappas_are_dashes_with_reasons(benchmark):
    benchmark.cases.update(votes_1=None, votes_2=None, votes_tie=None, kappa=None)
    judge = scripted()
    found = results.load_or_compute(evaluated(benchmark, judge), QUICK)
    human = next(one for one in found["lines"] if one["name"].startswith("human"))["cells"]["all"]
    assert (human["value"], human["reason"]) == (None, "no votes are known of these cases")
    figures = next(iter(found["cuts"][0]["figures"].values()))
    assert figures["hard"]["reason"].startswith("no kappa is known")


def test_cases_that_no_model_gets_leave_baselines_out(benchmark):
    evaluation = evaluated(benchmark, scripted_by_case(benchmark, ["2", "2", "2", "A"]))
    evaluated(benchmark, factories.JudgeFactory(provider="baseline", model="longer"), evaluation=evaluation)
    found = results.load_or_compute(evaluation, QUICK)
    assert (found["nobody"]["n"], found["nobody"]["n_models"]) == (2, 1)  # cases 1 and 3; case 4 is right once
    assert {one["tier"] for one in found["nobody"]["cases"]} == {"easy"}


def test_excluded_cases_and_memories_made_from_fields_are_stated(benchmark):
    evaluation = evaluated(benchmark, scripted(), Setting("memories"))
    assert results.load_or_compute(evaluation, QUICK)["n_personas_with_made_memories"] == 2
    BenchmarkCase.objects.filter(pk=benchmark.cases.first().pk).update(excluded_reason="contested")
    assert results.load_or_compute(evaluation, QUICK)["n_cases"] == 3


def test_cases_in_which_no_memory_fits_are_counted(benchmark):
    pair = benchmark.cases.order_by("pk").first().pair
    pair.question = "Qwertz?"
    pair.save()
    evaluation = evaluated(benchmark, scripted(), Setting(), Setting("memories"))
    runs = results.load_or_compute(evaluation, QUICK)["runs"]
    # asked in two orders, a case counts once; without retrieval there is nothing to count
    assert {run["setting"]["shows"]: run["nothing_found"] for run in runs} == {"none": None, "memories": 1}


def test_results_are_computed_by_a_worker_once_the_last_run_is_over(
    benchmark, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _, name, args, **__: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        evaluation = evaluated(benchmark, scripted())
    assert (EVALUATION_TASK, [evaluation.pk]) in sent
    results.keep(evaluation.pk)
    results.keep(evaluation.pk)  # a task may run twice
    kept = EvaluationResult.objects.get()
    assert results.load_or_compute(evaluation)["accuracy"] == kept.result["accuracy"]

    JudgeRun.objects.filter(evaluation=evaluation).update(finished_at=None)
    EvaluationResult.objects.all().delete()
    results.keep(evaluation.pk)
    assert not EvaluationResult.objects.exists()


def test_a_result_is_kept_and_found_again_until_something_changes(benchmark, django_assert_num_queries):
    evaluation = evaluated(benchmark, scripted())
    first = results.load_or_compute(evaluation, QUICK)
    assert EvaluationResult.objects.count() == 1
    with django_assert_num_queries(4):
        again = results.load_or_compute(evaluation, QUICK)
    assert again == first

    Judgment.objects.filter(run__evaluation=evaluation).first().delete()
    assert results.load_or_compute(evaluation, QUICK)["runs"][0]["answers"] == 7
    BenchmarkCase.objects.filter(pk=benchmark.cases.first().pk).update(gold="2")
    results.load_or_compute(evaluation, QUICK)
    results.load_or_compute(evaluation, Options(bootstrap=201))
    assert EvaluationResult.objects.count() == 4


def test_nothing_is_kept_while_a_run_goes_on(benchmark):
    evaluation = evaluated(benchmark, scripted())
    JudgeRun.objects.filter(evaluation=evaluation).update(finished_at=None)
    found = results.load_or_compute(evaluation, QUICK)
    assert found["runs"][0]["state"] == "running"
    assert not EvaluationResult.objects.exists()


def test_an_evaluation_without_answers_has_lines_and_no_models(benchmark):
    found = results.load_or_compute(evaluations.begin(by=None, benchmark=benchmark), QUICK)
    assert found["runs"] == found["accuracy"] == []
    assert found["lines"][0]["cells"]["all"]["value"] == 0.5
    json.dumps(drop_nan(found), allow_nan=False)


def test_the_newest_finished_run_speaks(benchmark):
    judge = scripted_by_case(benchmark, "1212")
    evaluation = evaluated(benchmark, judge)
    evaluated(benchmark, judge, evaluation=evaluation, seed=5)
    found = results.load_or_compute(evaluation, QUICK)
    assert [run["run"] for run in found["runs"]] == [evaluation.runs.order_by("-pk").first().pk]


def test_queries_do_not_grow_with_cases_or_runs(benchmark, django_assert_num_queries):
    evaluation = evaluated(benchmark, scripted(), Setting(), Setting("profile"))
    with django_assert_num_queries(9):
        results.load_or_compute(evaluation, QUICK)


def test_a_persona_with_unknown_keys_is_one_like_others(benchmark):
    profile = benchmark.cases.first().pair.profile
    profile.demographics = {"Agee": 33, "MBTI-Typo": {"x": ["y"]}, "Gender": None}
    profile.save()
    evaluation = evaluated(benchmark, scripted(), Setting("profile"), Setting("memories"))
    assert {run["unscored"] for run in results.load_or_compute(evaluation, QUICK)["runs"]} == {0}


def test_personas_are_those_of_cases_that_count_wherever_they_are_counted():
    benchmark = benchmark_with("121212", personas=3)
    benchmark.cases.update(split="test")
    no_persona, *others = benchmark.cases.order_by("pk")
    ResponsePair.objects.filter(pk=no_persona.pair_id).update(profile=None)
    benchmark.cases.filter(pair__profile=others[0].pair.profile).update(excluded_reason="contested")
    found = {
        "benchmark": row(benchmark).personas,
        "audit": versions.audit(by=None, benchmark=benchmark, bootstrap=50).result["n_personas"],
        "split": datasheet(benchmark, bootstrap=0)["splits"][0]["personas"],
        "evaluation": results.load_or_compute(evaluated(benchmark, scripted()), QUICK)["n_personas"],
    }
    assert found == dict.fromkeys(found, 2)
