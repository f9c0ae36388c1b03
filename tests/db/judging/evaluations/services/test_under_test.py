"""A model asked in each setting: what it is shown, what is kept, how its answer is read."""

from __future__ import annotations

import json

import pytest

from core import vectors
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from judging.runs.queries.judgments import rebuild_prompt
from tests.support import factories
from tests.support.evaluated import benchmark_with, evaluated, only_run
from tests.support.judging import scripted
from tests.support.model_server import EMBEDDINGS, MODEL, SCORE, Answer, verdict

pytestmark = pytest.mark.django_db


def model(**parameters) -> Judge:
    return factories.JudgeFactory(
        provider="openai_compatible", model=MODEL, parameters={"max_retries": 0, "concurrency": 2, **parameters}
    )


def choose(value="A", **options):
    """A server that chooses a side, and sums up whatever it is asked to sum up."""

    def answer(request):
        properties = request.body["response_format"]["json_schema"]["schema"]["properties"]
        if "summary" in properties:
            return Answer(text=json.dumps({"summary": "They eat no meat."}))
        return Answer(text=verdict(value), **options)

    return answer


def judgments(evaluation):
    return list(Judgment.objects.filter(run__evaluation=evaluation).order_by("item__position", "order"))


def test_no_persona_shows_nothing_of_the_person(server):
    server.by_default = choose()
    evaluation = evaluated(benchmark_with("1"), model())

    assert len(server.asked) == 2
    for request in server.asked:
        assert "What Thai food shall I cook tonight? 0" in request.prompt
        assert "Thai, without meat" not in request.prompt
        assert "what is known of the user" not in request.prompt
    assert [(one.order, one.value) for one in judgments(evaluation)] == [("AB", "1"), ("BA", "2")]


def test_the_profile_shows_all_but_what_is_left_out(server):
    server.by_default = choose()
    benchmark = benchmark_with("1")
    evaluation = evaluated(benchmark, model(), Setting("profile"), order_policy="AB")
    evaluated(
        benchmark, model(), Setting("profile", without=("preferences.Food",)), evaluation=evaluation, order_policy="AB"
    )

    whole, without = (request.prompt for request in server.asked)
    assert "Cuisine Thai, without meat" in whole
    assert "Age: 34" in whole
    assert "Thai, without meat" not in without
    assert "by train" in without


def test_retrieved_memories_are_shown_and_kept(server):
    server.by_default = choose()
    benchmark = benchmark_with("1")
    memories = ["She sold a boat.", "She likes to cook at night.", "Her cat is grey.", "Tonight she is alone."]
    benchmark.cases.get().pair.profile.__class__.objects.update(memories=memories)
    evaluation = evaluated(benchmark, model(), Setting("memories", k=2))

    asked = server.asked[0].prompt
    assert "She likes to cook at night." in asked
    assert "Tonight she is alone." in asked
    assert "grey" not in asked
    assert "Age: 34" not in asked
    kept = judgments(evaluation)[0].details["retrieved"]
    assert {one["text"] for one in kept} == {"She likes to cook at night.", "Tonight she is alone."}
    assert kept[0]["score"] >= kept[1]["score"] > 0
    assert {one["place"] for one in kept} == {1, 3}


def test_the_page_of_an_answer_shows_the_prompt_as_it_was(server):
    server.by_default = choose()
    evaluation = evaluated(benchmark_with("1"), model(), Setting("memories", k=1), order_policy="AB")
    (said,) = judgments(evaluation)
    prompt = rebuild_prompt(said)
    assert prompt is not None
    assert prompt.user == server.asked[0].prompt


@pytest.mark.skipif(bool(vectors.explain_missing()), reason=vectors.explain_missing() or "there")
def test_memories_found_by_the_vectors_that_come_with_it(server):
    server.by_default = choose()
    evaluation = evaluated(benchmark_with("1"), model(), Setting("memories", retriever="embeddings", k=1))
    (kept,) = judgments(evaluation)[0].details["retrieved"]
    assert "Cuisine" in kept["text"]


def test_memories_found_by_embeddings_from_a_server(server):
    server.by_default = choose()
    embedder = {"model": "letters", "base_url": f"{server.url}/v1"}
    server.key = ""
    setting = Setting("memories", retriever="endpoint", k=1, embedder=embedder)
    evaluation = evaluated(benchmark_with("12", personas=1), model(), setting)

    kept = judgments(evaluation)[0].details
    assert len(kept["retrieved"]) == 1
    embedded = [request.body["input"] for request in server.requests if request.path == EMBEDDINGS]
    assert sum(len(texts) > 1 for texts in embedded) == 1  # the persona's memories once, each question by itself
    assert sum(len(texts) == 1 for texts in embedded) == 4


def test_the_model_sums_up_once_and_both_orders_see_it(server):
    server.by_default = choose()
    evaluation = evaluated(benchmark_with("1"), model(), Setting("summary", k=2))

    summed = [request for request in server.asked if "Summarise" in request.prompt]
    chosen = [request for request in server.asked if "Summarise" not in request.prompt]
    assert (len(summed), len(chosen)) == (1, 2)
    assert all("They eat no meat." in request.prompt for request in chosen)
    assert all("Cuisine" not in request.prompt for request in chosen)
    first, second = judgments(evaluation)
    assert first.details["summary"] == second.details["summary"] == "They eat no meat."
    assert sorted([first.input_tokens, second.input_tokens]) == [130, 260]  # one of them paid for the summary


def test_a_summary_that_never_comes_leaves_the_answer_unscored(server):
    server.by_default = lambda request: Answer(text='{"summary": ""}')
    evaluation = evaluated(benchmark_with("1"), model(), Setting("summary"))
    assert {one.unscored_reason for one in judgments(evaluation)} == {"no_summary"}


def test_rules_get_the_memories_in_place_of_a_summary():
    judge = factories.JudgeFactory(provider="baseline", model="longer")
    evaluation = evaluated(benchmark_with("1"), judge, Setting("summary"))
    (first, _) = judgments(evaluation)
    assert first.details["summary_by"].startswith("none:")
    assert first.value == "1"


def test_a_missing_persona_is_unscored_and_nobody_is_asked(server):
    benchmark = benchmark_with("11")
    pair = benchmark.cases.first().pair
    pair.__class__.objects.filter(pk=pair.pk).update(profile=None)
    server.by_default = choose()
    evaluation = evaluated(benchmark, model(), Setting("profile"), Setting("memories"), Setting())

    reasons = {
        (one.run.setting["shows"], one.item.pair_id == pair.pk): one.unscored_reason
        for one in Judgment.objects.filter(run__evaluation=evaluation).select_related("run", "item")
    }
    assert reasons == {
        ("profile", True): "no_persona",
        ("profile", False): "",
        ("memories", True): "no_memories",
        ("memories", False): "",
        ("none", True): "",
        ("none", False): "",
    }


def test_empty_memories_and_no_field_either():
    benchmark = benchmark_with("1")
    profile = benchmark.cases.get().pair.profile
    profile.__class__.objects.filter(pk=profile.pk).update(
        persona="", demographics={}, preferences={}, interactions={}, memories=["", None]
    )
    evaluation = evaluated(benchmark, scripted(), Setting("memories"))
    assert {one.unscored_reason for one in judgments(evaluation)} == {"no_memories"}


def test_by_log_probability_the_more_probable_verdict_counts(server):
    server.by_default = choose("A", probabilities={"A": 0.3, "B": 0.6, "Neither": 0.1})
    evaluation = evaluated(benchmark_with("1"), model(), Setting(answers="log_probability"), order_policy="AB")

    (said,) = judgments(evaluation)
    assert said.value == "2"
    assert said.confidence == pytest.approx(0.6 / 0.9)
    schema = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["verdict"]
    assert "explanation" not in server.asked[0].prompt


@pytest.mark.parametrize(
    ("probabilities", "reason"), [(None, "no_probabilities"), ({"A": 0.5, "B": 0.5}, "equal_probabilities")]
)
def test_by_log_probability_what_says_nothing_is_unscored(server, probabilities, reason):
    server.by_default = choose("A", probabilities=probabilities)
    evaluation = evaluated(benchmark_with("1"), model(), Setting(answers="log_probability"))
    assert {one.unscored_reason for one in judgments(evaluation)} == {reason}


def test_answers_are_kept_for_equal_requests_and_settings_are_told_apart(server):
    server.by_default = choose()
    benchmark, judge = benchmark_with("1"), model()
    evaluated(benchmark, judge, Setting("memories", k=1))
    asked = len(server.asked)
    again = evaluated(benchmark, judge, Setting("memories", k=1))
    assert len(server.asked) == asked
    assert all(one.is_cached and one.details["retrieved"] for one in judgments(again))
    evaluated(benchmark, judge, Setting("memories", k=2))
    assert len(server.asked) == 2 * asked


def test_a_scorer_is_asked_in_the_same_way(server):
    server.by_default = lambda request: Answer(body={"score": 2.0 if "Thai" in request.body["response"] else 1.0})
    judge = factories.JudgeFactory(
        provider="scorer", model="endpoint", parameters={"url": server.url + SCORE, "max_retries": 0}
    )
    evaluation = evaluated(benchmark_with("1"), judge, Setting("memories", k=1))
    assert [one.value for one in judgments(evaluation)] == ["1", "1"]
    sent = [request.body["persona"] for request in server.requests if request.path == SCORE]
    assert all(persona.startswith("Remembered:\n- ") for persona in sent)


def test_a_scorer_that_gives_nan_leaves_items_unscored_with_the_reason(server):
    server.by_default = lambda request: Answer(body={"score": float("nan")})
    judge = factories.JudgeFactory(
        provider="scorer", model="endpoint", parameters={"url": server.url + SCORE, "max_retries": 0}
    )
    evaluation = evaluated(benchmark_with("1"), judge)
    assert {one.unscored_reason for one in judgments(evaluation)} == {"no_score"}
    assert "the scorer gave NaN" in judgments(evaluation)[0].explanation
    assert only_run(evaluation).state == "finished"


def test_the_trivial_rules():
    benchmark = benchmark_with("1212")
    evaluation = None
    for rule in ("longer", "first", "chance"):
        judge = factories.JudgeFactory(provider="baseline", model=rule)
        evaluation = evaluated(benchmark, judge, evaluation=evaluation)
    said = {rule: [] for rule in ("longer", "first", "chance")}
    for one in judgments(evaluation):
        said[one.run.judge.model].append(one.value)
    assert said["longer"] == ["1"] * 8
    assert said["first"] == ["1", "2"] * 4
    assert len(said["chance"]) == 8
    assert set(said["chance"]) <= {"1", "2"}
