from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import calls
from judging.judges.providers.base import approximate_tokens
from judging.judges.providers.calls import patiently, retry_after
from tests.support.asking import run


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert retry_after(headers) == seconds


def test_how_long_to_wait_until_a_date():
    then = datetime.now(UTC) + timedelta(seconds=60)

    assert retry_after({"retry-after": format_datetime(then, usegmt=True)}) == pytest.approx(60, abs=2)


class Call:
    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.made = 0

    async def __call__(self) -> str:
        self.made += 1
        if self.faults:
            raise self.faults.pop(0)
        return "done"


def test_a_wish_to_be_left_alone_is_passed_on_however_long():
    told = []
    call = Call(TransientError("429", retry_after=0.001), TransientError("429", retry_after=3600))

    with pytest.raises(TransientError):
        run(patiently(call, retries=5, told=told.append))

    assert told == [0.001, 3600]


def test_passing_errors_are_sat_out(monkeypatch):
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)
    call = Call(TransientError("500"), TransientError("429", retry_after=0.001))

    assert run(patiently(call, retries=2)) == "done"
    assert call.made == 3


def test_not_more_often_than_agreed(monkeypatch):
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)
    call = Call(*[TransientError("500")] * 5)

    with pytest.raises(TransientError):
        run(patiently(call, retries=2))
    assert call.made == 3


@pytest.mark.parametrize("fault", [PermanentError("401"), TransientError("429", retry_after=calls.PATIENCE + 1)])
def test_what_does_not_pass_soon_is_not_sat_out(fault):
    call = Call(fault)

    with pytest.raises(type(fault)):
        run(patiently(call, retries=2))
    assert call.made == 1


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("four", 1), ("fours", 2), ("苹果好吃", 4), ("naïve", 2)])
def test_tokens_by_length(text, tokens):
    # a quarter of the ASCII characters, rounded up, and one for each other character
    assert approximate_tokens(text) == tokens
