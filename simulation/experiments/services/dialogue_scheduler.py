"""Turns of many dialogues at once, for several speakers with limits of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from judging.judges.providers.base import JudgeRequest, Provider, Reply
from judging.runs.services.async_bridge import AsyncBridge


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
class ModelLimit:
    """A model, which some agents share, and how many calls it takes at once."""

    agents: frozenset[int]
    limit: int


class DialogueScheduler(AsyncBridge[Answer]):
    """Keeps as many calls in flight as the lanes allow. To be closed, which cancels what is in flight.

    An answer counts as in flight until it is saved, so that a killed process has paid for no more turns than its lanes
    hold without keeping them.
    """

    def __init__(
        self, speakers: Mapping[int, Provider], lanes: Sequence[ModelLimit], *, others: Sequence[Provider] = ()
    ) -> None:
        """`others` are used by what prepares requests, and let go of at the end like the speakers."""
        self.speakers = speakers
        self.seats: dict[int, asyncio.Semaphore] = {}
        for lane in lanes:
            self.seats |= dict.fromkeys(lane.agents, asyncio.Semaphore(lane.limit))
        self.waiting: dict[int, Ask] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        super().__init__("stage", [*speakers.values(), *others])

    # what the caller does

    def send(self, asks: Iterable[Ask]) -> None:
        asks = list(asks)
        self.outstanding += len(asks)

        def begin_all() -> None:
            for ask in asks:
                self.begin(ask)

        self.call_in_loop(begin_all)

    def release_saved(self, answers: Sequence[Answer]) -> None:
        """These are safe, and their seats free."""
        agents = [answer.ask.agent for answer in answers]

        def release() -> None:
            for agent in agents:
                self.seats[agent].release()

        self.call_in_loop(release)

    def drop(self) -> list[Ask]:
        """Forget turns that wait for a seat. Returns them; those in flight still land."""

        async def forget() -> list[Ask]:
            waiting, self.waiting = list(self.waiting.values()), {}
            return waiting

        dropped = self.result_of(forget())
        self.outstanding -= len(dropped)
        return dropped

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

    def finish_all(self) -> None:
        self.waiting.clear()
