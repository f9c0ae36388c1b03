"""Scorers through their one protocol: built in, behind an address, a callable, a model."""

from __future__ import annotations

import math
import sys
import types

import pytest

from core import vectors
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import create
from judging.judges.providers.requests import Category, CriterionSpec, JudgeRequest, PairContent, Person
from judging.judges.providers.scorer import build_reply
from judging.judges.providers.scorer.protocol import Score
from tests.support.asking import run
from tests.support.model_server import CHAT, MODEL, SCORE, Answer

PREFERENCE = CriterionSpec(
    "preference", "Preference", "Which?", "", "nominal", (Category("A", "A"), Category("B", "B"))
)
PAIR = PairContent(
    "What shall I cook?",
    "A spicy Thai curry with rice.",
    "Fix the gearbox of the car.",
    person=Person(persona="Loves Thai food."),
)


def asked(content=PAIR, **options):
    return JudgeRequest("p1", PREFERENCE, content, order="AB", **options)


def scored(name, request=None, **parameters):
    async def act():
        made = create("scorer", model=name, parameters={"max_retries": 0, **parameters})
        try:
            return await made.judge(request or asked())
        finally:
            await made.aclose()

    return run(act())


def problems(name, *, criterion=PREFERENCE, **parameters):
    return create("scorer", model=name, parameters=parameters).check([criterion])


MODELLED = {"provider": "openai_compatible", "model": MODEL, "parameters": {"max_retries": 0}}


def test_the_higher_score_is_chosen():
    assert build_reply({"A": Score(0.2), "B": Score(0.7)}).value == "B"
    assert build_reply({"A": Score(-1), "B": Score(-3)}).value == "A"


def test_equal_scores_are_no_verdict():
    reply = build_reply({"A": Score(1.0), "B": Score(1.0)})
    assert (reply.value, reply.unscored) == (None, "equal_scores")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_unscored_with_the_reason(value):
    reply = build_reply({"A": Score(value), "B": Score(1.0)})
    assert (reply.value, reply.unscored) == (None, "no_score")
    assert reply.explanation.startswith("No score for response A: the scorer gave")
    assert reply.details["scores"] == {"A": None, "B": 1.0}


needs_vectors = pytest.mark.skipif(bool(vectors.explain_missing()), reason=vectors.explain_missing() or "there")


@needs_vectors
def test_the_built_in_scorer_prefers_what_is_nearer_to_question_and_person():
    reply = scored("embedding")
    assert reply.value == "A"
    assert reply.details["scores"]["A"] > reply.details["scores"]["B"]


@needs_vectors
def test_a_response_without_a_word_has_no_score():
    reply = scored("embedding", asked(PairContent("Hello?", "", "Hello.")))
    assert reply.unscored == "no_score"
    assert "there is no word to compare" in reply.explanation


@needs_vectors
def test_vectors_are_means_of_tokens_and_need_no_package_but_the_tokenizer():
    import subprocess

    one, same, other = vectors.embed(["I hike in the mountains.", "I hike in the mountains.", "Shares fell."])
    assert one.shape == (256,)
    assert vectors.cosine(one, same) == pytest.approx(1.0)
    assert vectors.cosine(one, other) < 0.5
    assert math.isnan(vectors.cosine(one, vectors.embed([""])[0]))
    code = (
        "import sys; from core import vectors; vectors.embed(['x']);"
        "sys.exit(any(name in sys.modules for name in ('wordllama', 'requests', 'huggingface_hub')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# behind an address


@pytest.fixture
def endpoint(server, monkeypatch):
    monkeypatch.setenv("CONCORD_SCORER_KEY", server.key)
    server.by_default = lambda request: Answer(body={"score": float(len(request.body["response"]))})
    return server


def at(server, **parameters):
    return {"url": server.url + SCORE, **parameters}


def test_an_endpoint_gets_persona_question_and_response(endpoint):
    reply = scored("endpoint", **at(endpoint))
    assert reply.value == "A"
    first = endpoint.requests[0]
    assert first.body == {
        "persona": "Who the user is:\nLoves Thai food.",
        "question": "What shall I cook?",
        "response": PAIR.response_a,
    }
    assert first.headers["authorization"] == f"Bearer {endpoint.key}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"score": math.nan}, "the scorer gave NaN"),
        ({"score": None}, "the endpoint answered null"),
        ({"score": "high"}, "str 'high' is not a number"),
        ({"score": True}, "bool 'True' is not a number"),
    ],
)
def test_an_endpoint_without_a_number_leaves_it_unscored(endpoint, body, why):
    endpoint.by_default = lambda request: Answer(body=body)
    reply = scored("endpoint", **at(endpoint))
    assert reply.unscored == "no_score"
    assert why in reply.explanation


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"<html>Bad gateway</html>"),
        Answer(body=[1, 2]),
        Answer(body={"value": 3}),
        Answer(500, body={"error": "out of memory"}),
        Answer(429, body={}, headers={"retry-after": "60"}),
        Answer(body={"score": 1.0}, delay=5.0),
        Answer(body={"score": 1.0}, cut=3),
    ],
)
def test_a_fault_that_may_pass(endpoint, answer):
    endpoint.by_default = lambda request: answer
    with pytest.raises(TransientError):
        scored("endpoint", **at(endpoint, timeout=0.5))


@pytest.mark.long
def test_a_passing_fault_is_tried_again(endpoint):
    endpoint.answers.append(Answer(500, body={}))
    assert scored("endpoint", **at(endpoint, max_retries=1)).value == "A"


def test_a_fault_that_will_come_again(endpoint):
    endpoint.by_default = lambda request: Answer(400, body={"error": "no persona wanted"})
    with pytest.raises(PermanentError, match="no persona wanted"):
        scored("endpoint", **at(endpoint))


def test_an_endpoint_needs_an_address():
    assert problems("endpoint", url="ftp://x") == [
        "an endpoint needs the parameter url, such as http://localhost:9000/score"
    ]


# a callable


@pytest.fixture
def own(monkeypatch):
    module = types.ModuleType("own_scorers_for_tests")
    module.words = lambda persona, question, response: len(response.split())
    module.broken = lambda persona, question, response: 1 / 0
    module.text = lambda persona, question, response: "good"

    async def later(persona, question, response):
        return -len(response)

    module.later = later
    monkeypatch.setitem(sys.modules, module.__name__, module)
    names = ("words", "broken", "text", "later", "absent")
    monkeypatch.setenv("CONCORD_SCORERS", ", ".join(f"{name}={module.__name__}:{name}" for name in names))


def test_a_callable_scores(own):
    assert scored("words").details["scores"] == {"A": 6.0, "B": 6.0}
    assert scored("later").value == "B"


def test_a_callable_that_returns_no_number(own):
    assert scored("text").unscored == "no_score"


def test_a_callable_that_raises(own):
    with pytest.raises(PermanentError, match="broken raised ZeroDivisionError"):
        scored("broken")


def test_callables_that_are_not_there(own):
    assert problems("words") == []
    assert "cannot be imported" in problems("absent")[0]
    assert "there is no scorer 'other'" in problems("other")[0]


# a model


def test_a_model_rates_one_response_at_a_time(server):
    def rate(request):
        assert ("curry" in request.prompt) != ("gearbox" in request.prompt)
        return Answer(text='{"verdict": "5"}' if "curry" in request.prompt else '{"verdict": "2"}')

    server.by_default = rate
    reply = scored("model", **MODELLED)
    assert (reply.value, reply.details["scores"]) == ("A", {"A": 5.0, "B": 2.0})
    assert "Loves Thai food." in server.asked[0].prompt
    assert server.asked[0].path == CHAT
    assert reply.usage.input_tokens > 0


def test_a_models_probabilities_make_a_mean(server):
    server.by_default = lambda request: Answer(
        text='{"verdict": "4"}',
        probabilities={"4": 0.5, "5": 0.5} if "curry" in request.prompt else {"4": 0.75, "3": 0.25},
    )
    reply = scored("model", **MODELLED)
    assert reply.details["scores"]["A"] == pytest.approx(4.5)
    assert reply.details["scores"]["B"] == pytest.approx(3.75)


def test_a_model_that_says_no_number_gives_no_score(server):
    server.by_default = lambda request: Answer(text="I like both.")
    reply = scored("model", **MODELLED)
    assert reply.unscored == "no_score"
    assert "held no rating" in reply.explanation


def test_a_model_has_to_be_named():
    assert "needs the parameter provider" in problems("model")[0]


def test_a_scorer_does_not_judge_what_is_no_choice():
    two = (Category("1", "no"), Category("4", "yes"))
    other = CriterionSpec("kindness", "Kindness", "How kind?", "", "ordinal", two)
    assert "kindness" in problems("embedding", criterion=other)[0]
