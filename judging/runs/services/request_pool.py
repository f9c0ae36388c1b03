"""Many questions to one provider at once."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from judging.judges.providers.base import OWN_EXAMPLE, PermanentError, Provider, Reply, TransientError
from judging.runs.queries.requests import Pending
from judging.runs.services.async_bridge import AsyncBridge

GAP = 1 / 64  # seconds between the first starts: seats filled all at once would be free all at once ever after


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of a part of a run. It starts no earlier than `starts` (seconds since 1970)."""

    pending: Pending
    part: int = 0
    key: str = ""
    tokens: int = 0
    starts: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, or the fault that stands in its place."""

    ask: Ask
    reply: Reply | None
    fault: Exception | None = None
    latency_ms: int = 0
    cached: bool = False

    @property
    def error(self) -> str:
        """Why this request will never be answered; empty if it is, or may be later."""
        return str(self.fault) if isinstance(self.fault, PermanentError) else ""

    @property
    def is_later(self) -> bool:
        return isinstance(self.fault, TransientError)


def build_example_answer(ask: Ask) -> Answer:
    """What is kept of an item that is one of the judge's examples, without asking. It answers no other request."""
    return Answer(replace(ask, key=""), OWN_EXAMPLE, cached=True)


class RequestPool(AsyncBridge[Answer]):
    """Keeps as many calls in flight as it has seats. To be closed, which cancels what is in flight.

    A `careful` crew counts an answer as in flight until it is saved, so that a killed process has paid for no more
    answers than it has seats without keeping them.
    """

    def __init__(self, provider: Provider, seats: int, *, careful: bool = True) -> None:
        self.provider, self.seats, self.careful = provider, seats, careful
        self.waiting: deque[Ask] = deque()
        self.in_flight: set[asyncio.Task[None]] = set()
        self.unsaved = self.started = 0
        self.quiet_until = 0.0  # seconds since 1970: nothing starts before
        provider.on_wait = lambda seconds: self.pause_calls(time.time() + seconds)
        super().__init__("asking", [provider])

    # what the caller does

    def send(self, asks: Iterable[Ask]) -> None:
        asks = list(asks)
        self.outstanding += len(asks)
        self.change(lambda: self.waiting.extend(asks))

    def release_saved(self, n: int) -> None:
        """So many answers are safe, and their seats free."""
        if self.careful and n:
            self.change(lambda: setattr(self, "unsaved", self.unsaved - n))

    def drop(self, unwanted: Callable[[Ask], bool]) -> list[Ask]:
        """Forget requests that have not started. Returns them."""

        async def forget() -> list[Ask]:
            dropped = [ask for ask in self.waiting if unwanted(ask)]
            self.waiting = deque(ask for ask in self.waiting if not unwanted(ask))
            return dropped

        dropped = self.result_of(forget())
        self.outstanding -= len(dropped)
        return dropped

    def change(self, make: Callable[[], None]) -> None:
        """Make a change in the loop, and let it start what it now can."""

        def act() -> None:
            make()
            self.start_calls()

        self.call_in_loop(act)

    def pause_calls(self, until: float) -> None:
        """Start nothing before that moment (seconds since 1970). From any thread."""
        self.quiet_until = max(self.quiet_until, until)

    # what happens in the loop

    def start_calls(self) -> None:
        while self.waiting and len(self.in_flight) + self.unsaved < self.seats:
            wait = self.started * GAP if self.started < self.seats else 0.0
            self.started += 1
            task = self.loop.create_task(self.run_call(self.waiting.popleft(), wait))
            self.in_flight.add(task)
            task.add_done_callback(self.finish_call)

    def finish_call(self, task: asyncio.Task[None]) -> None:
        self.in_flight.discard(task)
        if not task.cancelled():
            self.unsaved += self.careful
        self.start_calls()

    async def run_call(self, ask: Ask, wait: float) -> None:
        if (wait := max(wait, ask.starts - time.time())) > 0:
            await asyncio.sleep(wait)
        while (wait := self.quiet_until - time.time()) > 0:
            await asyncio.sleep(wait + random.uniform(0, GAP * self.seats))  # noqa: S311 — so that not all come at once
        started = time.monotonic()
        reply, fault = None, None
        try:
            reply = await self.provider.judge(ask.pending.request)
        except Exception as error:  # noqa: BLE001 — handed to the caller, who tells kinds of faults apart
            fault = error
        self.landed.put(Answer(ask, reply, fault, round((time.monotonic() - started) * 1000)))

    def finish_all(self) -> None:
        self.waiting.clear()
