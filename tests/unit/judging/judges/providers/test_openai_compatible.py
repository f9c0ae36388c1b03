from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import create
from judging.judges.providers.base import NoModelListError, Reply, TokenCount, Usage
from judging.judges.providers.calls import NO_ANSWER
from judging.judges.providers.openai_compatible import OPENAI
from tests.support import asking
from tests.support.asking import CRITERION, LONG, request, using
from tests.support.model_server import KEY, MODEL, Answer, error, verdict

judge = partial(asking.judge, "openai_compatible")


def test_a_verdict_comes_back_with_its_tokens(server):
    assert judge() == Reply(
        text=verdict("2"), details={"model": MODEL, "id": "chatcmpl-1"}, usage=Usage(130, 34, cached_tokens=8)
    )


def test_what_is_sent(server):
    judge(max_tokens=500, temperature=0.2)

    [sent] = server.asked
    prompt = request().prompt
    assert (sent.body["model"], sent.body["max_tokens"], sent.body["temperature"]) == (MODEL, 500, 0.2)
    assert sent.body["messages"] == [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    assert sent.body["response_format"]["json_schema"]["schema"] == prompt.schema
    assert (sent.body["logprobs"], sent.body["top_logprobs"], sent.body["seed"]) == (True, 20, 0)


def test_what_a_server_does_not_know_is_not_sent(server):
    judge(request(system=""), structured=False, logprobs=False)

    sent = server.asked[0].body
    assert {"response_format", "logprobs", "top_logprobs", "temperature"}.isdisjoint(sent)
    assert [message["role"] for message in sent["messages"]] == ["user"]


def test_how_probable_each_verdict_was(server):
    # of 0.8 on the scale, 0.6 is on 2 and 0.2 on 1; the rest would have begun something else
    server.answers.append(Answer(probabilities={"2": 0.6, "1": 0.2, "The": 0.2}))

    reply = judge()

    assert reply.distribution == pytest.approx({"1": 0.25, "2": 0.75})
    assert reply.details["scale_mass"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("answer", "stop", "text"),
    [
        (Answer(text="", refusal="I would rather not."), "refusal", "I would rather not."),
        (Answer(text="", stop="content_filter"), "refusal", ""),
        (Answer(text='{"explanation": "It', stop="length"), "length", '{"explanation": "It'),
        (Answer(text="What a lovely day."), "end", "What a lovely day."),
    ],
)
def test_how_a_reply_ended(server, answer, stop, text):
    server.answers.append(answer)

    reply = judge()

    assert (reply.stop, reply.text) == (stop, text)


def test_the_models_of_a_server(server):
    server.models = ["b", "a"]
    assert using("openai_compatible", lambda made: made.list_models()) == ("a", "b")


def test_models_by_the_tags_of_ollama_where_there_is_no_other_list(monkeypatch):
    with answering({"/api/tags": b'{"models": [{"name": "qwen3:8b"}, {"name": "gemma3:4b"}]}'}) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        assert using("openai_compatible", lambda made: made.list_models()) == ("gemma3:4b", "qwen3:8b")


@pytest.mark.parametrize("tags", [None, b"[]", b'{"models": [{}]}', b"<html>"])
def test_a_server_without_a_list_says_so_and_is_believed(monkeypatch, tags):
    with answering({"/api/tags": tags} if tags else {}) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        with pytest.raises(NoModelListError, match="has no list of models: enter the name of one"):
            using("openai_compatible", lambda made: made.list_models())
        assert using("openai_compatible", lambda made: made.probe()) == []


@contextmanager
def answering(pages):
    """A server that has these pages and no other."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path in pages else 404)
            self.end_headers()
            self.wfile.write(pages.get(self.path, b"{}"))

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_calls_that_begin_at_once_share_one_client(server):
    """One that was made and forgotten would keep its connections open for good."""

    async def clients(made):
        first, *others = await asyncio.gather(*(made.client() for _ in range(8)))
        return all(other is first for other in others)

    assert using("openai_compatible", clients)


class TestErrors:
    @pytest.mark.parametrize("status", [429, 500, 503, 529])
    def test_what_passes_is_transient(self, server, status):
        server.answers.append(error(status, "x", "Not now.", retry_after="7"))

        with pytest.raises(TransientError, match=f"{status} Not now") as raised:
            judge()
        assert raised.value.retry_after == 7.0

    @pytest.mark.parametrize("status", [400, 401, 404, 422])
    def test_what_will_fail_again_is_permanent(self, server, status):
        server.answers.append(error(status, "x", "No."))

        with pytest.raises(PermanentError, match=f"{status} No"):
            judge()

    @pytest.mark.parametrize(
        "body", [b"<html>login first</html>", b"{not json", b'{"hello": "world"}', b"[]", b"", b'{"choices": []}']
    )
    def test_an_answer_that_is_no_completion_is_transient(self, server, body):
        server.answers.append(Answer(body=body))

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


class TestLength:
    def test_what_does_not_fit_is_not_sent(self, server):
        reply = judge(request(LONG), context_window=1_000, max_tokens=200)

        assert reply.unscored == "too_long"
        assert reply.details["too_long"]["exact"] is False
        assert server.asked == []

    @pytest.mark.parametrize(
        "said",
        [
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",  # OpenAI, vLLM
            "the request exceeds the available context size (8192 tokens)",  # llama.cpp
        ],
    )
    def test_what_the_server_finds_too_long_is_unscored(self, server, said):
        server.answers.append(error(400, "invalid_request_error", said))

        assert judge().unscored == "too_long"

    def test_tokens_are_estimated(self, server):
        prompt = request().prompt
        count = using("openai_compatible", lambda made: made.count_tokens(request()))

        assert not count.exact
        assert count.tokens == pytest.approx(len(prompt.system + prompt.user) / 4, rel=0.1)
        assert server.requests == []

    def test_nothing_to_send_has_no_tokens(self):
        assert create("baseline").estimate_tokens(request()).tokens > 0
        bare = asking.JudgeRequest("d1", CRITERION, asking.SHORT)
        assert create("baseline").estimate_tokens(bare) == TokenCount(0, exact=True)


class TestKeys:
    """A key goes to the address that it was set for, and nowhere else."""

    def test_the_key_goes_to_the_address_of_the_environment(self, server):
        judge()

        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"

    def test_another_address_does_not_get_it(self, server, monkeypatch):
        server.key = ""
        monkeypatch.delenv("OPENAI_BASE_URL")

        judge(base_url=f"{server.url}/v1")

        assert server.asked[0].headers["authorization"] == "Bearer none"

    def test_another_address_has_a_key_of_its_own(self, server, monkeypatch):
        monkeypatch.delenv("OPENAI_BASE_URL")
        port = server.url.rpartition(":")[2]
        monkeypatch.setenv(f"OPENAI_API_KEY_127_0_0_1_{port}", KEY)
        monkeypatch.setenv("OPENAI_API_KEY", "another")

        assert judge(base_url=f"{server.url}/v1").text == verdict("2")

    def test_openai_itself_needs_one(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        made = create("openai_compatible")

        assert made.address == OPENAI
        assert made.check([CRITERION])[0].startswith("no API key: set OPENAI_API_KEY")
        assert "no model" in made.check([CRITERION])[1]

    @pytest.mark.parametrize("address", ["localhost:8000", "ftp://models/v1", "http://"])
    def test_an_address_is_one(self, address):
        with pytest.raises(PermanentError, match=r"base_url: .*an address such as"):
            create("openai_compatible", model="m", parameters={"base_url": address})


class TestProbe:
    def probe(self, **options):
        return using("openai_compatible", lambda made: made.probe(), **options)

    def test_a_known_model_passes(self, server):
        assert self.probe() == []
        assert server.asked == []

    def test_an_unknown_model_is_told_with_the_known_ones(self, server):
        assert self.probe(model="oracle") == [f"{server.url}/v1 has no model 'oracle'; it has {MODEL}"]

    def test_a_wrong_key_is_told(self, server):
        server.key = "another"

        assert self.probe() == [f"{server.url}/v1 says: 401 invalid x-api-key"]

    def test_nobody_there_is_told(self, monkeypatch):
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

        assert "No connection" in self.probe()[0]
