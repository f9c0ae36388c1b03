from __future__ import annotations

import asyncio
import signal
import time
from threading import Event, Timer, main_thread

import pytest

from core.jobs import request_pool as pool
from core.jobs.backoff import TransientError
from judging.judges.providers import base
from judging.judges.providers.base import Reply
from judging.judges.providers.requests import CriterionSpec, DialogueContent, JudgeRequest
from judging.runs.queries.requests import Pending
from judging.runs.services.request_pool import Answer, Ask, JudgePool
from tests.support.asking import run

CRITERION = CriterionSpec("c", "C", "?", "", "nominal", ())


def requests(n: int) -> list[Pending]:
    content = DialogueContent(turns=())
    return [Pending(at, 1, CRITERION, JudgeRequest(str(at), CRITERION, content)) for at in range(n)]


class Provider(base.Provider):
    """Counts how many calls are in flight. Where it has a gate, none is answered before that is open."""

    in_flight = most = asked = cancelled = closed = 0

    def __init__(
        self, delay: float = 0.01, concurrency: int = 3, fails_on: str = "", gate: Event | None = None
    ) -> None:
        super().__init__(parameters={"concurrency": concurrency})
        self.delay, self.fails_on, self.gate = delay, fails_on, gate

    async def judge(self, request: JudgeRequest) -> Reply:
        self.asked += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            if request.item == self.fails_on:
                raise TransientError("not now")
            await asyncio.sleep(self.delay)
            while self.gate and not self.gate.is_set():
                await asyncio.sleep(0.005)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        return Reply(value=request.item)

    async def aclose(self) -> None:
        self.closed += 1


@pytest.fixture
def crew():
    """Makes crews, and closes what is left open."""
    made = []

    def make(provider: base.Provider, seats: int = 3, **options) -> JudgePool:
        made.append(JudgePool(provider, seats, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def asks(n: int, **options) -> list[Ask]:
    return [Ask(pending, **options) for pending in requests(n)]


def all_of(crew: JudgePool) -> list[Answer]:
    """Every answer, each batch said to be saved."""
    got = []
    while crew.outstanding:
        batch = crew.batch()
        crew.mark_saved(batch)
        got += batch
    return got


def test_all_are_answered_with_as_many_in_flight_as_there_are_seats(crew):
    provider = Provider()
    working = crew(provider)

    working.send(asks(10))
    got = [answer.reply.value for answer in all_of(working)]
    working.close()

    assert sorted(got, key=int) == [str(at) for at in range(10)]
    assert (provider.most, provider.closed) == (3, 1)


def test_a_wait_that_is_held_up_ends_all_the_same(crew, monkeypatch):
    monkeypatch.setattr(pool, "BATCH_SECONDS", 0.2)
    working = crew(Provider(gate=Event()))
    working.send(asks(1))
    before = signal.signal(signal.SIGUSR1, lambda *_: time.sleep(0.5))
    held_up = Timer(0.05, signal.pthread_kill, (main_thread().ident, signal.SIGUSR1))
    rescue = Timer(3, working.found.put, (Answer(asks(1)[0], None),))
    try:
        held_up.start()
        rescue.start()
        assert working.batch() == []
    finally:
        rescue.cancel()
        signal.signal(signal.SIGUSR1, before)


def test_no_answer_waits_for_others_that_cannot_come(crew, monkeypatch):
    monkeypatch.setattr(pool, "LINGER", 30.0)
    working = crew(Provider(delay=0), seats=2)
    working.send(asks(6))
    began = time.monotonic()
    assert len(all_of(working)) == 6
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(("is_asked", "gap"), [(True, pool.GAP), (False, 0.0)])
def test_only_the_first_starts_of_a_model_are_apart(crew, monkeypatch, is_asked, gap):
    monkeypatch.setattr(Provider, "is_asked", is_asked)
    assert crew(Provider()).gap == gap


def settled(provider: Provider, n: int) -> bool:
    """Whether so many requests come to be asked, and no more."""
    end = time.monotonic() + 60
    while provider.asked < n and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    return provider.asked == n


def test_an_answer_keeps_its_seat_until_it_is_saved(crew):
    provider = Provider(delay=0)
    working = crew(provider)

    working.send(asks(10))
    assert settled(provider, 3)

    working.mark_saved(working.batch())
    assert settled(provider, 6)


def test_a_crew_that_is_paid_nothing_goes_on_meanwhile(crew):
    provider = Provider(delay=0)

    crew(provider, careful=False).send(asks(10))

    assert settled(provider, 10)


def test_a_batch_is_no_longer_than_agreed(crew, monkeypatch):
    monkeypatch.setattr(pool, "BATCH_SIZE", 4)
    provider = Provider(delay=0)
    working = crew(provider, careful=False)

    working.send(asks(10))
    assert settled(provider, 10)

    assert [len(working.batch()) for _ in range(3)] == [4, 4, 2]


def test_the_caller_is_heard_while_nothing_comes(crew, monkeypatch):
    monkeypatch.setattr(pool, "BATCH_SECONDS", 0.05)
    gate = Event()
    working = crew(Provider(gate=gate))

    working.send(asks(1))
    assert [len(working.batch()) for _ in range(2)] == [0, 0]
    gate.set()

    assert len(all_of(working)) == 1


def test_closing_early_cancels_what_is_on_its_way(crew):
    provider = Provider(gate=Event())
    working = crew(provider)

    working.send(asks(10))
    assert settled(provider, 3)
    working.close()

    assert (provider.cancelled, provider.closed, provider.in_flight) == (3, 1, 0)


def test_a_fault_stands_in_the_place_of_its_answer(crew):
    working = crew(Provider(fails_on="1"))

    working.send(asks(3))
    faults = {answer.ask.pending.request.item: answer.fault for answer in all_of(working)}

    assert isinstance(faults.pop("1"), TransientError)
    assert faults == {"0": None, "2": None}


def test_a_call_that_something_else_cancels_is_a_fault_that_may_pass(crew):
    class Abandoned(Provider):
        async def judge(self, request: JudgeRequest) -> Reply:
            waited_for = asyncio.get_running_loop().create_future()
            waited_for.cancel()
            return await waited_for

    working = crew(Abandoned())
    working.send(asks(2))
    assert [type(answer.fault) for answer in all_of(working)] == [TransientError, TransientError]


def test_what_has_not_started_can_be_dropped(crew):
    gate = Event()
    working = crew(Provider(gate=gate))

    working.send([*asks(4, part=1), *asks(4, part=2)])

    assert len(working.drop(lambda ask: ask.part == 2)) == 4
    gate.set()
    assert len(all_of(working)) == 4


@pytest.mark.long
def test_a_request_waits_for_its_start(crew):
    working = crew(Provider(delay=0))
    began = time.monotonic()

    working.send(asks(2, starts=time.time() + 0.6))
    got = all_of(working)

    assert time.monotonic() - began >= 0.59
    assert {answer.latency_ms < 500 for answer in got} == {True}, "waiting is no part of the reply's time"


def test_it_works_inside_another_loop(crew):
    async def notebook() -> int:
        working = crew(Provider())
        working.send(asks(2))
        return len(all_of(working))

    assert run(notebook()) == 2
