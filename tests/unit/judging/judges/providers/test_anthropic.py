from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import create
from judging.judges.providers.base import BatchState, Reply, TokenCount, UnknownBatchError, Usage
from judging.judges.providers.calls import NO_ANSWER
from tests.support import asking
from tests.support.asking import CRITERION, LONG, request, using
from tests.support.model_server import KEY, MODEL, Answer, error, verdict

judge = partial(asking.judge, "anthropic")


def test_a_verdict_comes_back_with_its_tokens(server):
    reply = judge()

    # 120 read anew, 8 from the cache, 2 into it
    assert reply == Reply(
        text=verdict("2"),
        details={"model": MODEL, "id": "msg_1"},
        usage=Usage(130, 34, cached_tokens=8, written_tokens=2),
    )


def test_what_is_sent(server):
    judge(max_tokens=500, temperature=0.2, effort="low")

    [sent] = server.asked
    assert (sent.body["model"], sent.body["max_tokens"], sent.body["temperature"]) == (MODEL, 500, 0.2)
    assert sent.body["system"] == request().prompt.system
    assert sent.body["messages"] == [{"role": "user", "content": request().prompt.user}]
    assert sent.body["output_config"]["effort"] == "low"
    assert sent.body["output_config"]["format"]["type"] == "json_schema"
    assert list(sent.body["output_config"]["format"]["schema"]["properties"]) == ["explanation", "verdict"]
    assert sent.headers["authorization"] == f"Bearer {KEY}"


def test_models_without_structured_output_get_the_prompt_alone(server):
    judge(structured="no")

    assert {"output_config", "temperature", "tools"}.isdisjoint(server.asked[0].body)


def test_a_model_without_schemas_is_made_to_call_a_tool(server):
    server.answers.append(Answer(tool={"explanation": "Fine.", "verdict": "2"}))

    reply = judge(structured="tool")

    sent = server.asked[0].body
    assert reply.text == verdict("2", "Fine.")
    assert sent["tool_choice"] == {"type": "tool", "name": "verdict"}
    assert sent["tools"][0]["input_schema"]["properties"]["verdict"]["enum"] == ["1", "2"]
    assert "output_config" not in sent


def test_no_system_text_is_sent_where_a_judge_wants_none(server):
    judge(request(system=""))

    assert "system" not in server.asked[0].body


class TestKeeping:
    """A beginning that several requests share is read once."""

    def test_the_item_is_marked_to_be_kept_and_the_criterion_is_not(self, server):
        judge(request(LONG))

        [item, rest] = server.asked[0].body["messages"][0]["content"]
        assert item["cache_control"] == {"type": "ephemeral"}
        assert item["text"].endswith("the conversation ends ----")
        assert "cache_control" not in rest
        assert rest["text"].strip().startswith("Rate this now")

    def test_a_short_beginning_is_not_worth_a_mark(self, server):
        judge()

        assert isinstance(server.asked[0].body["messages"][0]["content"], str)

    def test_it_can_be_switched_off(self, server):
        judge(request(LONG), cache=False)

        assert isinstance(server.asked[0].body["messages"][0]["content"], str)

    @pytest.mark.long
    def test_the_first_request_of_an_item_goes_ahead(self, server):
        server.by_default = lambda request: Answer(delay=0.1 if len(server.asked) == 1 else 0.5)

        using("anthropic", lambda made: asyncio.gather(*(made.judge(request(LONG)) for _ in range(4))))
        assert server.most_flying == 3, "one alone, then three at once"

    @pytest.mark.long
    def test_others_do_not_wait(self, server):
        server.by_default = lambda request: Answer(delay=0.5)

        using("anthropic", lambda made: asyncio.gather(*(made.judge(request()) for _ in range(4))))
        assert server.most_flying == 4

    def test_one_that_fails_holds_nobody_up(self, server):
        server.answers.append(error(400, "invalid_request_error", "No."))

        async def both(made):
            return await asyncio.gather(*(made.judge(request(LONG)) for _ in range(2)), return_exceptions=True)

        failed, replied = using("anthropic", both)
        assert isinstance(failed, PermanentError)
        assert replied.text == verdict("2")


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (Answer(text="", stop="refusal"), "refusal"),
        (Answer(text='{"explanation": "It', stop="max_tokens"), "length"),
        (Answer(text="", stop="model_context_window_exceeded"), "length"),
        (Answer(text="What a lovely day."), "end"),
    ],
)
def test_how_a_reply_ended(server, answer, stop):
    server.answers.append(answer)

    assert judge().stop == stop


class TestErrors:
    def test_a_rate_limit_is_transient_and_says_how_long_to_wait(self, server):
        server.answers.append(error(429, "rate_limit_error", "Slow down.", retry_after="7"))

        with pytest.raises(TransientError, match="429 Slow down") as raised:
            judge()
        assert raised.value.retry_after == 7.0

    @pytest.mark.parametrize("status", [500, 503, 529])
    def test_trouble_at_the_other_end_is_transient(self, server, status):
        server.answers.append(error(status, "api_error", "Overloaded."))

        with pytest.raises(TransientError, match=f"{status} Overloaded"):
            judge()

    @pytest.mark.parametrize(
        ("status", "kind", "said"),
        [
            (400, "invalid_request_error", "temperature: not for this model"),
            (401, "authentication_error", "invalid x-api-key"),
            (404, "not_found_error", "model: claude-test"),
        ],
    )
    def test_what_will_fail_again_is_permanent(self, server, status, kind, said):
        server.answers.append(error(status, kind, said))

        with pytest.raises(PermanentError, match=f"{status} {said}"):
            judge()

    def test_a_hiccup_is_repeated_after_the_time_asked_for(self, server):
        server.answers.append(error(429, "rate_limit_error", "Slow down.", retry_after="0.2"))
        started = time.monotonic()

        reply = judge(max_retries=1)

        assert reply.text == verdict("2")
        assert len(server.asked) == 2
        assert time.monotonic() - started >= 0.2

    def test_an_hour_is_not_waited_for(self, server):
        server.answers.append(error(429, "rate_limit_error", "Later.", retry_after="3600"))

        with pytest.raises(TransientError) as raised:
            judge(max_retries=2)
        assert raised.value.retry_after == 3600
        assert len(server.asked) == 1

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (b"<html>login first</html>", "text/html"),
            (b"{not json", "application/json"),
            (b'{"hello": "world"}', "application/json"),
            (b"[]", "application/json"),
            (b"", "application/json"),
        ],
    )
    def test_an_answer_that_is_no_message_is_transient_and_not_a_crash(self, server, body, kind):
        server.answers.append(Answer(body=body, headers={"content-type": kind}))

        with pytest.raises(TransientError, match=NO_ANSWER):
            judge()

    def test_half_an_answer_is_transient(self, server):
        server.answers.append(Answer(cut=40))

        with pytest.raises(TransientError, match="No connection"):
            judge()

    def test_no_answer_in_time_is_transient(self, server):
        server.answers.append(Answer(delay=5))

        with pytest.raises(TransientError, match=r"No answer within 0\.2 s"):
            judge(timeout=0.2)

    def test_nobody_there_is_transient(self, monkeypatch):
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")

        with pytest.raises(TransientError, match="No connection"):
            judge()


class TestLength:
    def test_what_does_not_fit_is_counted_and_not_sent(self, server):
        server.tokens_per_prompt = 9_000

        reply = judge(request(LONG), context_window=5_000, max_tokens=1_000)

        assert reply.unscored == "too_long"
        assert reply.details["too_long"] == {"tokens": 9_000, "exact": True, "reply": 1_000, "window": 5_000}
        assert server.asked == []

    def test_what_is_long_but_fits_is_sent_whole(self, server):
        server.tokens_per_prompt = 3_000

        judge(request(LONG), context_window=5_000, max_tokens=1_000)

        assert server.asked[0].prompt == request(LONG).prompt.user

    def test_what_surely_fits_is_not_counted(self, server):
        judge()

        assert len(server.requests) == 1

    def test_what_the_service_finds_too_long_is_unscored(self, server):
        said = "prompt is too long: 210000 tokens > 200000 maximum"
        server.answers.append(error(400, "invalid_request_error", said))

        reply = judge()

        assert (reply.unscored, reply.details["too_long"]) == ("too_long", {"said": f"400 {said}"})

    def test_tokens_are_counted_by_the_service(self, server):
        server.tokens_per_prompt = 77

        assert using("anthropic", lambda made: made.count_tokens(request())) == TokenCount(77, exact=True)


class TestBeforeARun:
    def test_the_check_asks_for_key_and_model(self, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

        problems = create("anthropic").check([CRITERION])

        assert len(problems) == 2
        assert "set ANTHROPIC_API_KEY" in problems[0]
        assert "no model" in problems[1]
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
        assert create("anthropic", model="claude-test").check([CRITERION]) == []

    def test_a_key_that_vanished_is_said_so(self, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

        with pytest.raises(PermanentError, match="no API key"):
            judge()

    def test_a_good_key_and_a_known_model_pass(self, server):
        assert using("anthropic", lambda made: made.probe()) == []
        assert server.asked == [], "it costs nothing"

    def test_a_wrong_key_is_found_out_before_anything_is_spent(self, server):
        server.key = "another"

        assert using("anthropic", lambda made: made.probe()) == ["Anthropic: 401 invalid x-api-key"]

    def test_an_unknown_model_is_found_out(self, server):
        assert using("anthropic", lambda made: made.probe(), model="claude-0") == ["Anthropic: 404 model: claude-0"]


class TestBatches:
    def test_many_requests_are_handed_in_and_fetched_later(self, server):
        asked = {f"r{number}": request() for number in range(3)}

        name = using("anthropic", lambda made: made.submit(asked), temperature=0.5)
        assert using("anthropic", lambda made: made.poll(name)) == BatchState(ended=False, waiting=3, done=0)
        server.finish(name, {"r1": Answer(text=verdict("1"))})

        async def all_of(made):
            return {key: reply async for key, reply in made.fetch(name)}

        assert using("anthropic", lambda made: made.poll(name)) == BatchState(ended=True, waiting=0, done=3)
        found = using("anthropic", all_of)
        assert found["r1"].text == verdict("1")
        assert found["r0"].usage == Usage(130, 34, 8, 2, batched=True)
        line = server.requests[0].body["requests"][0]
        assert line["custom_id"] == "r0"
        assert line["params"]["temperature"] == 0.5
        assert "extra_body" not in line["params"]

    def test_what_became_of_each(self, server):
        name = using("anthropic", lambda made: made.submit({key: request() for key in "abcd"}))
        server.finish(
            name,
            {
                "a": {"type": "expired"},
                "b": errored("invalid_request_error", "prompt is too long: 300000 tokens"),
                "c": errored("invalid_request_error", "no such field"),
                "d": errored("overloaded_error", "Overloaded"),
            },
        )

        async def all_of(made):
            return {key: reply async for key, reply in made.fetch(name)}

        found = using("anthropic", all_of)
        assert [type(found[key]) for key in "abcd"] == [TransientError, Reply, PermanentError, TransientError]
        assert found["b"].unscored == "too_long"

    def test_nothing_is_fetched_before_the_end(self, server):
        name = using("anthropic", lambda made: made.submit({"a": request()}))

        async def first_of(made):
            return [key async for key, _ in made.fetch(name)]

        with pytest.raises(TransientError, match="not ended"):
            using("anthropic", first_of)

    def test_a_batch_is_cancelled(self, server):
        name = using("anthropic", lambda made: made.submit({"a": request()}))

        using("anthropic", lambda made: made.cancel(name))

        assert server.batches[name]["state"] == "canceling"

    def test_a_batch_that_is_not_there_is_permanent(self, server):
        with pytest.raises(UnknownBatchError, match="no batch gone"):
            using("anthropic", lambda made: made.poll("gone"))


class TestBedrock:
    @pytest.fixture
    def bedrock(self, server, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
        monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", server.url)
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        return server

    def test_the_model_is_named_in_the_path(self, bedrock):
        bedrock.by_default = lambda request: Answer()

        reply = judge(model="anthropic.claude-test-v1:0", through="bedrock")

        [sent] = bedrock.requests
        assert sent.path == "/model/anthropic.claude-test-v1:0/invoke"
        assert reply.text == verdict("2")

    def test_it_needs_a_region_and_a_way_in(self, monkeypatch):
        for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

        problems = create("anthropic", model="m", parameters={"through": "bedrock"}).check([CRITERION])

        assert ["Bedrock" in problems[0], "region" in problems[1]] == [True, True]

    def test_it_takes_no_batches(self, bedrock):
        with pytest.raises(PermanentError, match="no Message Batches"):
            using("anthropic", lambda made: made.submit({"a": request()}), through="bedrock")


def errored(kind: str, message: str) -> dict[str, object]:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": message}}}
