"""Turns of many dialogues at once, from an event loop in a thread of its own.

The loop goes on while the caller saves turns and sends the next ones; the caller keeps its database connection, and may
be in a loop itself, as in a notebook. It is built as `judging.services.asking` is, for several speakers with limits of
their own instead of one judge.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from judging.providers.base import JudgeRequest, Provider, Reply

T = TypeVar("T")

BATCH_SIZE = 100
BATCH_SECONDS = 1.0
LINGER = 0.004  # seconds that a first answer waits for others


@dataclass(frozen=True, slots=True)
class Ask:
    """The next turn of a dialogue. `agent` speaks; it starts no earlier than `starts` (seconds since 1970).

    `prepare` gives the request in its final form where that takes waiting, too.
    """

    dialogue: int
    agent: int
    request: JudgeRequest
    tokens: int = 0
    reserved: Decimal = Decimal(0)
    starts: float = 0.0
    prepare: Callable[[], Awaitable[JudgeRequest]] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, or the fault that stands in its place."""

    ask: Ask
    reply: Reply | None
    fault: Exception | None = None
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class Lane:
    """A model, which some agents share, and how many calls it takes at once."""

    agents: frozenset[int]
    limit: int


class Stage:
    """Keeps as many calls in flight as the lanes allow. To be closed, which cancels what is in flight.

    An answer counts as in flight until it is saved, so that a killed process has paid for no more turns than its lanes
    hold without keeping them.
    """

    def __init__(
        self, speakers: Mapping[int, Provider], lanes: Sequence[Lane], *, others: Sequence[Provider] = ()
    ) -> None:
        """`others` are used by what prepares requests, and let go of at the end like the speakers."""
        self.speakers, self.others = speakers, others
        self.seats: dict[int, asyncio.Semaphore] = {}
        for lane in lanes:
            self.seats |= dict.fromkeys(lane.agents, asyncio.Semaphore(lane.limit))
        self.waiting: dict[int, Ask] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.landed: SimpleQueue[Answer] = SimpleQueue()
        self.outstanding = 0
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="stage", daemon=True)
        self.thread.start()

    # what the caller does

    def send(self, asks: Iterable[Ask]) -> None:
        asks = list(asks)
        self.outstanding += len(asks)

        def begin_all() -> None:
            for ask in asks:
                self.begin(ask)

        self.there(begin_all)

    def batch(self) -> list[Answer]:
        """What has landed: waits for the first answer, a second at most, and takes along what else is there."""
        batch: list[Answer] = []
        end = time.monotonic() + BATCH_SECONDS
        while self.outstanding and len(batch) < BATCH_SIZE:
            try:
                batch.append(self.landed.get(timeout=max(end - time.monotonic(), 0)))
            except Empty:
                break
            self.outstanding -= 1
            if len(batch) == 1:
                end = min(end, time.monotonic() + LINGER)
        return batch

    def saved(self, answers: Sequence[Answer]) -> None:
        """These are safe, and their seats free."""
        agents = [answer.ask.agent for answer in answers]

        def release() -> None:
            for agent in agents:
                self.seats[agent].release()

        self.there(release)

    def drop(self) -> list[Ask]:
        """Forget turns that wait for a seat. Returns them; those in flight still land."""

        async def forget() -> list[Ask]:
            waiting, self.waiting = list(self.waiting.values()), {}
            return waiting

        dropped = self.result_of(forget())
        self.outstanding -= len(dropped)
        return dropped

    def close(self) -> None:
        """Cancel what is in flight and let the speakers go."""
        try:
            self.result_of(self.end())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()

    def there(self, act: Callable[[], object]) -> None:
        self.loop.call_soon_threadsafe(act)

    def result_of(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    # what happens in the loop

    def begin(self, ask: Ask) -> None:
        self.waiting[ask.dialogue] = ask
        task = self.loop.create_task(self.speak(ask))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def speak(self, ask: Ask) -> None:
        await self.seats[ask.agent].acquire()
        if self.waiting.pop(ask.dialogue, None) is None:  # dropped meanwhile
            self.seats[ask.agent].release()
            return
        if (wait := ask.starts - time.time()) > 0:
            await asyncio.sleep(wait)
        started = time.monotonic()
        reply, fault = None, None
        try:
            if ask.prepare:
                ask = replace(ask, request=await ask.prepare())
                started = time.monotonic()
            reply = await self.speakers[ask.agent].judge(ask.request)
        except Exception as error:  # noqa: BLE001 — handed to the caller, who tells kinds of faults apart
            fault = error
        self.landed.put(Answer(ask, reply, fault, round((time.monotonic() - started) * 1000)))

    async def end(self) -> None:
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for speaker in (*self.speakers.values(), *self.others):
            await speaker.aclose()
        await self.loop.shutdown_asyncgens()
        await self.loop.shutdown_default_executor()
