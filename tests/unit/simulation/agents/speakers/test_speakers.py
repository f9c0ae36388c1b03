"""The real SDKs, talking with a local server that speaks their wire formats."""

from __future__ import annotations

import json

import pytest

from core.jobs.backoff import PermanentError, TransientError
from simulation.agents import speakers
from simulation.agents.prompts import Cue, Message
from simulation.agents.speakers import build_request
from tests.support.asking import run
from tests.support.model_server import KEY, MODEL, Answer, error, running

CUE = Cue("Be brief.", (Message("user", "Hello?"), Message("assistant", "Yes."), Message("user", "A table.")), "v" * 12)


def asked(provider, model="", cue=CUE, seed=7, **parameters):
    speaker = speakers.create(provider, model=model, parameters=parameters)

    async def say():
        try:
            return await speaker.judge(build_request(cue, item="user0/task0", number=3, seed=seed))
        finally:
            await speaker.aclose()

    return run(say())


@pytest.fixture
def server(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


class TestChat:
    def test_the_conversation_is_sent_as_it_is(self, server):
        server.answers.append(Answer(text="At eight?"))

        reply = asked("openai_compatible", MODEL, temperature=0.5, max_tokens=50)

        assert (reply.text, reply.stop) == ("At eight?", "end")
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (130, 34)
        body = server.asked[0].body
        assert body["messages"] == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "A table."},
        ]
        assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 50, 7)
        assert "response_format" not in body, "a turn is free text"
        assert "logprobs" not in body

    def test_without_an_instruction_none_is_sent(self, server):
        asked("openai_compatible", MODEL, cue=Cue("", CUE.messages, "v"))

        assert server.asked[0].body["messages"][0]["role"] == "user"

    def test_a_temperature_that_is_null_is_not_sent(self, server):
        asked("openai_compatible", MODEL, temperature=None)

        assert "temperature" not in server.asked[0].body

    def test_a_passing_error_is_tried_again(self, server):
        server.answers += [error(429, "rate_limit_error", "Slow down", retry_after="0"), Answer(text="Yes.")]

        assert asked("openai_compatible", MODEL).text == "Yes."

    def test_errors_are_told_apart(self, server):
        server.answers += [error(500, "api_error", "Oh"), error(400, "invalid_request_error", "No")]

        with pytest.raises(TransientError, match="500"):
            asked("openai_compatible", MODEL, max_retries=0)
        with pytest.raises(PermanentError, match="400"):
            asked("openai_compatible", MODEL, max_retries=0)

    def test_a_conversation_that_does_not_fit_is_said(self, server):
        server.answers.append(error(400, "invalid_request_error", "prompt is too long"))

        assert asked("openai_compatible", MODEL).unscored == "too_long"


class TestAnthropic:
    def test_the_conversation_is_sent_as_it_is(self, server):
        server.answers.append(Answer(text="At eight?"))

        reply = asked("anthropic", MODEL, temperature=0.0)

        assert reply.text == "At eight?"
        body = server.asked[0].body
        assert body["system"] == "Be brief."
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
        assert body["temperature"] == 0
        assert "output_config" not in body

    def test_a_long_one_is_kept_by_the_other_side(self, server):
        long = Cue("Be brief.", (Message("user", "word " * 2000),), "v")

        asked("anthropic", MODEL, cue=long)
        asked("anthropic", MODEL, cue=long, cache=False)

        kept, not_kept = (request.body["messages"][-1]["content"] for request in server.asked)
        assert kept[0]["cache_control"] == {"type": "ephemeral"}
        assert isinstance(not_kept, str)


async def own(messages, system=""):
    return json.dumps([system, messages[-1]["content"]])


def failing(messages, system=""):
    raise KeyError("window")


def slow(messages, system=""):
    return 42


class TestCallable:
    @pytest.fixture(autouse=True)
    def _named(self, monkeypatch):
        here = "tests.unit.simulation.agents.speakers.test_speakers"
        names = {"own": "own", "failing": "failing", "slow": "slow", "absent": "absent", "text": "KEY"}
        monkeypatch.setenv("CONCORD_ASSISTANTS", ", ".join(f"{name}={here}:{where}" for name, where in names.items()))

    def test_it_gets_the_conversation_and_what_the_condition_grants(self):
        assert json.loads(asked("callable", "own").text) == ["Be brief.", "A table."]

    def test_an_ordinary_function_will_do(self):
        assert asked("callable", "slow").text == "42"

    def test_what_it_raises_is_said(self):
        with pytest.raises(PermanentError, match="failing raised KeyError: 'window'"):
            asked("callable", "failing")

    @pytest.mark.parametrize(
        ("name", "problem"),
        [("nobody", "names no 'nobody'"), ("absent", "cannot be imported"), ("text", "cannot be called")],
    )
    def test_what_is_no_assistant_is_said_before_it_starts(self, name, problem):
        [said] = speakers.create("callable", model=name).check([])

        assert problem in said


def test_an_unknown_speaker_and_a_wrong_parameter_are_named():
    with pytest.raises(PermanentError, match="no speaker 'parrot'; there are local"):
        speakers.create("parrot")
    with pytest.raises(PermanentError, match="colour"):
        speakers.create("openai_compatible", model="m", parameters={"colour": 1})


def test_every_line_of_the_registry_is_a_speaker():
    for name in speakers.REGISTRY:
        assert speakers.create(name).parameters.concurrency >= 1
