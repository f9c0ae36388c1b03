"""Not every model takes a temperature: the 0 that judges have by default is then left out."""

from __future__ import annotations

import pytest

from core.jobs.backoff import PermanentError
from tests.support.asking import judge, request, using
from tests.support.model_server import error

TURNED_DOWN = error(400, "invalid_request_error", "`temperature` is not supported with this model.")

pytestmark = pytest.mark.parametrize("provider", ["anthropic", "openai_compatible"])


def test_0_that_is_turned_down_is_left_out_from_then_on_and_noted(server, provider):
    server.answers.append(TURNED_DOWN)

    async def twice(made):
        return [await made.judge(request()), await made.judge(request())]

    replies = using(provider, twice, temperature=0.0)

    assert [reply.details["temperature"] for reply in replies] == ["not taken by the model"] * 2
    assert [sent.body.get("temperature") for sent in server.asked] == [0.0, None, None]


def test_0_that_is_taken_is_sent_and_nothing_noted(server, provider):
    assert "temperature" not in judge(provider, temperature=0.0).details
    assert server.asked[0].body["temperature"] == 0.0


def test_another_that_is_turned_down_is_an_error(server, provider):
    server.answers.append(TURNED_DOWN)

    with pytest.raises(PermanentError, match="not supported"):
        judge(provider, temperature=0.5)
