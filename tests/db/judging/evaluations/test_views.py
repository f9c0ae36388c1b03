"""Pages of evaluations: begun, followed, read, and their wrong answers tagged."""

from __future__ import annotations

import json

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from judging.evaluations import views as evaluations_view
from judging.evaluations.queries import evaluations as queries
from judging.judges.evaluation_settings import Setting
from judging.runs.models.evaluations import Evaluation, FailureTag
from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.judging import scripted

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa(client):
    rosa = factories.ResearcherFactory(username="rosa")
    client.force_login(rosa)
    return rosa


@pytest.fixture
def benchmark():
    return benchmark_with("1212")


@pytest.fixture
def evaluation(benchmark):
    """The judge always says response 1: cases 2 and 4 are wrong in both orders."""
    return evaluated(benchmark, scripted(otherwise="1"), Setting(), Setting("memories", k=1))


def get(client, name, *args, **query):
    return client.get(reverse(name, args=args), query)


def choices(judge, **more):
    return {
        "judges": [judge.pk],
        "settings": ["none", "memories"],
        "answers": "choice",
        "retriever": "bm25",
        "k": 2,
        "order_policy": "both",
        "seed": 0,
        **more,
    }


def test_without_a_benchmark_the_index_says_what_to_do(client, rosa):
    assert "No benchmark yet" in get(client, "evaluation_index").content.decode()


def test_an_evaluation_is_begun_and_followed(client, rosa, benchmark):
    judge = scripted()
    said = client.post(reverse("evaluation_list", args=[benchmark.slug]), choices(judge, size=2))
    evaluation = Evaluation.objects.get()
    assert said.url == reverse("evaluation_detail", args=[evaluation.pk])
    assert evaluation.created_by == rosa
    page = client.get(said.url).content.decode()
    assert "memory retrieval (bm25, 2)" in page
    assert "0 of 4" in page
    assert "hx-get" in page
    assert str(evaluation) in get(client, "evaluation_index").content.decode()


def test_more_can_be_asked_later(client, rosa, evaluation):
    other = scripted()
    client.post(reverse("evaluation_detail", args=[evaluation.pk]), choices(other))
    assert evaluation.runs.filter(judge=other).count() == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"judges": []}, "Choose one."),
        ({"size": 9}, "Cannot draw 9 of 4 cases."),
        ({"longest": 3}, "has no case like that"),
        ({"without": "shoes"}, "is not a field of these personas"),
        ({"retriever": "endpoint"}, "need a model"),
        ({"k": 0}, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_made(client, rosa, benchmark, wrong, message):
    said = client.post(reverse("evaluation_list", args=[benchmark.slug]), choices(scripted(), **wrong))
    assert said.status_code == 200
    assert message in said.content.decode()
    assert not Evaluation.objects.exists()


def test_the_moving_part_ends_by_loading_the_page(client, rosa, evaluation):
    address = reverse("evaluation_progress", args=[evaluation.pk])
    assert client.get(address).status_code == 302
    assert client.get(address, headers={"hx-request": "true"}).headers["HX-Refresh"] == "true"
    JudgeRun.objects.update(finished_at=None)
    assert 'id="evaluation-runs"' in client.get(address, headers={"hx-request": "true"}).content.decode()


@pytest.mark.any_database
def test_what_holds_its_cases_is_no_study_to_rate_in(client, rosa, evaluation):
    for name in ("home", "study_list", "judge_create", "benchmark_create"):
        page = get(client, name)
        assert page.status_code == 200
        assert evaluation.study.name not in page.content.decode(), name


@pytest.mark.any_database
@pytest.mark.long
def test_results_show_accuracy_lines(client, rosa, evaluation):
    page = get(client, "evaluation_results", evaluation.pk).content.decode()
    assert "<svg" in page
    assert "human, leave one out" in page
    assert "memories are made from their own fields" in page
    assert "Not known: the model tells no probabilities." in page
    address = reverse("evaluation_results", args=[evaluation.pk])
    compared = client.get(address, {"ranks": "model,score\nelsewhere,0.7"}).content.decode()
    assert "Rank correlation with the other benchmark" in compared
    assert "elsewhere" in compared
    refused = client.get(address, {"ranks": "elsewhere"}).content.decode()
    assert "the columns are model,score or model,rank" in refused


@pytest.mark.parametrize(
    ("low", "high", "is_one"), [(0.4, 0.6, True), (0.5, 0.9, True), (0.51, 0.9, False), (None, None, False)]
)
def test_a_row_is_at_chance_where_its_interval_holds_one_half(low, high, is_one):
    assert evaluations_view.is_at_chance({"value": 0.7, "low": low, "high": high}) is is_one


def test_results_before_anybody_answered(client, rosa, benchmark):
    from judging.evaluations.services import evaluations

    evaluation = evaluations.begin(by=None, benchmark=benchmark)
    assert "No model has answered yet" in get(client, "evaluation_results", evaluation.pk).content.decode()


def test_results_say_when_tiers_are_the_models(client, rosa, benchmark):
    from judging.evaluations.services import evaluations

    evaluation = evaluations.begin(by=None, benchmark=benchmark)
    said = "Tiers are the likeliest by the difficulty model, with probability 0.71 on average"
    assert said not in get(client, "evaluation_results", evaluation.pk).content.decode()
    benchmark.made = {"tiers": "model", "model": {"sure": 0.712}}
    benchmark.save()
    assert said in " ".join(get(client, "evaluation_results", evaluation.pk).content.decode().split())
    assert get(client, "evaluation_download", evaluation.pk, "svg").status_code == 404


@pytest.mark.any_database
@pytest.mark.long
def test_a_case_counts_in_every_tier_by_its_probability(client, rosa, benchmark, evaluation):
    from judging.evaluations.services import results

    assert results.load_or_compute(evaluation)["accuracy_by_likely_tier"] == []
    assert "Accuracy by likely tier" not in get(client, "evaluation_results", evaluation.pk).content.decode()
    benchmark.made = {"tiers": "model", "model": {"sure": 0.712}}
    benchmark.save()
    evaluation.benchmark.refresh_from_db()
    for number, case in enumerate(benchmark.cases.all()):
        hard = 0.2 if number % 2 else 0.8
        odds = {"easy": 1 - hard, "medium": 0.0, "hard": hard, "contested": 0.0}
        case.tier = "hard" if number % 2 == 0 else "easy"
        case.history = [{"step": "tier by the difficulty model", "outcome": case.tier, "tiers": odds}]
        case.save()
    found = results.load_or_compute(evaluation)
    for one, counted in zip(found["accuracy_by_likely_tier"], found["accuracy"], strict=True):
        n = {tier: counted["cells"][tier]["n_items"] for tier in ("easy", "hard")}
        values = {tier: counted["cells"][tier]["value"] for tier in n}
        weights = {"easy": (0.8, 0.2), "hard": (0.2, 0.8)}
        for tier, (easy, hard) in weights.items():
            total = easy * n["easy"] + hard * n["hard"]
            right = easy * n["easy"] * values["easy"] + hard * n["hard"] * values["hard"]
            assert one["tiers"][tier]["value"] == pytest.approx(right / total)
    page = get(client, "evaluation_results", evaluation.pk).content.decode()
    assert "Accuracy by likely tier" in page
    told = get(client, "evaluation_download", evaluation.pk, "csv").content.decode()
    assert "accuracy by likely tier" in told


def test_a_tier_set_by_hand_counts_whole():
    from judging.evaluations.queries.evaluations import odds_of

    step = {"step": "tier by the difficulty model", "outcome": "easy", "tiers": {"easy": 0.7, "medium": 0.1,
            "hard": 0.1, "contested": 0.1}}  # fmt: skip
    rows = [
        ("easy", [step]),
        ("hard", [step, {"step": "tier set by hand", "outcome": "hard"}]),
        ("", []),
    ]
    found = odds_of(rows)
    assert found[0].tolist() == [0.1, 0.1, 0.1, 0.7]
    assert found[1].tolist() == [0, 1, 0, 0]
    assert [value != value for value in found[2]] == [True] * 4


@pytest.mark.any_database
@pytest.mark.long
def test_downloads(client, rosa, evaluation):
    found = json.loads(get(client, "evaluation_download", evaluation.pk, "json").content)
    assert found["n_cases"] == 4
    rows = get(client, "evaluation_download", evaluation.pk, "csv").content.decode().splitlines()
    assert rows[0].startswith("figure,judge,setting,against,cases,value")
    assert any(row.startswith("difference,") for row in rows)
    assert get(client, "evaluation_download", evaluation.pk, "svg").content.startswith(b"<svg")
    assert get(client, "evaluation_download", evaluation.pk, "png").content.startswith(b"\x89PNG")
    assert get(client, "evaluation_download", evaluation.pk, "svg", plot="reliability").status_code == 404
    assert get(client, "evaluation_download", evaluation.pk, "xls").status_code == 404


def test_wrong_answers_are_shown_with_what_was_retrieved(client, rosa, evaluation):
    page = get(client, "evaluation_failures", evaluation.pk).content.decode()
    assert "1–8 of 8 wrong answers" in page
    assert "People chose" in page
    assert "Food, Cuisine: Thai, without meat" in page


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({"tier": "hard"}, 8),
        ({"tier": "easy"}, 0),
        ({"tag": "none"}, 8),
        ({"tag": "generic"}, 0),
        ({"text": "number 1."}, 4),
        ({"case": "x"}, 8),
        ({"run": "0"}, 0),
    ],
)
def test_wrong_answers_narrow(client, rosa, evaluation, query, n):
    page = get(client, "evaluation_failures", evaluation.pk, **query)
    assert page.context["page"].paginator.count == n


def test_a_person_tags_a_wrong_answer_and_comes_back(client, rosa, evaluation):
    answer = queries.wrong(evaluation).order_by("pk").first()
    here = reverse("evaluation_failures", args=[evaluation.pk]) + "?tier=hard"
    said = client.post(
        reverse("failure_tag", args=[evaluation.pk, answer.pk]),
        {"tags": ["generic", "misread"], "note": "<b>flat</b>", "next": here},
    )
    assert said.url == f"{here}#answer-{answer.pk}"
    assert set(FailureTag.objects.values_list("tag", "tagged_by__username")) == {
        ("generic", "rosa"),
        ("misread", "rosa"),
    }
    page = get(client, "evaluation_failures", evaluation.pk, tag="generic").content.decode()
    assert "1–1 of 1 wrong answers" in page
    assert "&lt;b&gt;flat&lt;/b&gt;" in page
    assert "What people see in them" in page


def test_a_tag_goes_nowhere_else_and_unknown_ones_are_refused(client, rosa, evaluation):
    answer = queries.wrong(evaluation).order_by("pk").first()
    address = reverse("failure_tag", args=[evaluation.pk, answer.pk])
    said = client.post(address, {"tags": ["silly"], "next": "https://elsewhere.example/"})
    assert said.url == reverse("evaluation_failures", args=[evaluation.pk]) + f"#answer-{answer.pk}"
    assert not FailureTag.objects.exists()


def test_annotators_see_none_of_it(client, evaluation):
    client.force_login(factories.UserFactory())
    assert get(client, "evaluation_results", evaluation.pk).status_code == 403


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "most"), [("evaluation_detail", 20), ("evaluation_failures", 20), ("evaluation_results", 14)]
)
def test_queries_do_not_grow(client, rosa, benchmark, name, most, django_assert_max_num_queries):
    evaluation = evaluated(benchmark, scripted(otherwise="1"), Setting())
    with django_assert_max_num_queries(most) as few:
        get(client, name, evaluation.pk)
    evaluated(benchmark, scripted(otherwise="1"), Setting(), Setting("profile"), evaluation=evaluation)
    with django_assert_max_num_queries(most) as many:
        get(client, name, evaluation.pk)
    assert len(many) <= len(few) + 1


def test_why_a_reply_is_unscored_is_said_in_words():
    chosen = {"judge": "gpt", "setting_name": "no persona", "reasons": {"nothing_to_measure": 4}}
    page = render_to_string(
        "judging/_evaluation_one.html", {"chosen_run": chosen, "models": [], "sure": {}, "cuts": []}
    )
    assert "4 unscored: nothing there that the baseline could measure" in page
