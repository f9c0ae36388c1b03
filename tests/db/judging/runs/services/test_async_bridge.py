from __future__ import annotations

import asyncio
import gc
import time
import warnings
from contextlib import closing

import pytest

from judging.judges.providers import create
from judging.judges.providers.base import Provider, Reply
from judging.runs.queries.requests import Pending
from judging.runs.services import request_pool
from judging.runs.services.request_pool import JudgePool
from simulation.experiments.services import turns
from simulation.experiments.services.turns import DialogueScheduler, ModelLimit
from tests.support.asking import CRITERION, request
from tests.support.model_server import KEY, MODEL, Answer, running


class Clinging(Provider):
    """Leaves a task of its own behind, and may not want to close."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.fails, self.closed, self.own = fails, 0, None

    async def judge(self, request) -> Reply:
        self.own = asyncio.get_running_loop().create_task(asyncio.sleep(60))
        return Reply(value=request.item)

    async def aclose(self) -> None:
        self.closed += 1
        if self.fails:
            raise OSError("it does not close")


def turn(agent: int) -> turns.Ask:
    return turns.Ask(dialogue=agent, agent=agent, request=request())


def until(reached) -> None:
    end = time.monotonic() + 60  # a busy machine loads an SDK slowly
    while not reached() and time.monotonic() < end:
        time.sleep(0.005)
    assert reached()


def test_nothing_is_left_where_a_provider_has_tasks_of_its_own():
    provider = Clinging()
    crew = JudgePool(provider, 1)
    crew.send([request_pool.Ask(Pending(1, 1, CRITERION, request()))])
    assert len(crew.batch()) == 1

    crew.close()
    crew.close()

    assert provider.own.cancelled()
    assert provider.closed == 1
    assert crew.loop.is_closed()
    assert not crew.thread.is_alive()


def test_one_that_does_not_close_keeps_no_other_open_and_is_told():
    speakers = {1: Clinging(fails=True), 2: Clinging(), 3: Clinging(fails=True)}
    other = Clinging()
    playing = DialogueScheduler(speakers, [ModelLimit(frozenset(speakers), 1)], others=[other, other])
    playing.send([turn(1), turn(2)])
    assert playing.batch()

    with pytest.raises(OSError, match="does not close"):
        playing.close()

    assert [one.closed for one in (*speakers.values(), other)] == [1, 1, 1, 1]
    assert playing.loop.is_closed()
    assert not playing.thread.is_alive()


@pytest.mark.parametrize("name", ["anthropic", "openai_compatible"])
@pytest.mark.long
def test_no_connection_is_left_by_calls_in_flight(name, monkeypatch):
    """Some calls are answered, some are on their way, and some wait for a seat when all is closed."""
    with running() as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.answers.extend([Answer(), Answer()])
        server.by_default = lambda asked: Answer(delay=60.0)
        speakers = {pk: create(name, model=MODEL) for pk in (1, 2, 3)}

        with closing(DialogueScheduler(speakers, [ModelLimit(frozenset([pk]), 1) for pk in speakers])) as playing:
            playing.send([turns.Ask(dialogue, dialogue % 3 + 1, request()) for dialogue in range(9)])
            until(lambda: server.replies == 2)
            answers = playing.batch()
            playing.mark_saved(answers)
            until(lambda: server.in_flight > 0)
        assert [answer.fault for answer in answers if answer.fault] == []

        del speakers, playing
        gc.collect()

    assert [str(one.message) for one in told] == []
