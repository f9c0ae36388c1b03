"""Many questions to one provider at once, from an event loop in a thread of its own.

The loop goes on while the caller saves answers and fetches more questions; the caller keeps its database connection,
and may be in a loop itself, as in a notebook.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from judging.providers.base import PermanentError, Provider, Reply, TransientError
from judging.queries.requests import Pending

T = TypeVar("T")

BATCH_SIZE = 100
BATCH_SECONDS = 1.0
GAP = 1 / 64  # seconds between the first starts: seats filled all at once would be free all at once ever after
LINGER = 0.004  # seconds that a first answer waits for others


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


class Crew:
    """Keeps as many calls in flight as it has seats. To be closed, which cancels what is in flight.

    A `careful` crew counts an answer as in flight until it is saved, so that a killed process has paid for no more
    answers than it has seats without keeping them.
    """

    def __init__(self, provider: Provider, seats: int, *, careful: bool = True) -> None:
        self.provider, self.seats, self.careful = provider, seats, careful
        self.waiting: deque[Ask] = deque()
        self.flying: set[asyncio.Task[None]] = set()
        self.unsaved = self.started = 0
        self.landed: SimpleQueue[Answer] = SimpleQueue()
        self.outstanding = 0
        self.quiet_until = 0.0  # seconds since 1970: nothing starts before
        provider.told_to_wait = lambda seconds: self.hush(time.time() + seconds)
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name="asking", daemon=True)
        self.thread.start()

    # what the caller does

    def send(self, asks: Iterable[Ask]) -> None:
        asks = list(asks)
        self.outstanding += len(asks)
        self.there(lambda: self.waiting.extend(asks))

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

    def saved(self, n: int) -> None:
        """So many answers are safe, and their seats free."""
        if self.careful and n:
            self.there(lambda: setattr(self, "unsaved", self.unsaved - n))

    def drop(self, unwanted: Callable[[Ask], bool]) -> list[Ask]:
        """Forget requests that have not started. Returns them."""

        async def forget() -> list[Ask]:
            dropped = [ask for ask in self.waiting if unwanted(ask)]
            self.waiting = deque(ask for ask in self.waiting if not unwanted(ask))
            return dropped

        dropped = self.result_of(forget())
        self.outstanding -= len(dropped)
        return dropped

    def close(self) -> None:
        """Cancel what is in flight and let the provider go."""
        try:
            self.result_of(self.end())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()

    def there(self, change: Callable[[], None]) -> None:
        """Make a change in the loop, and let it start what it now can."""

        def act() -> None:
            change()
            self.take_off()

        self.loop.call_soon_threadsafe(act)

    def result_of(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def hush(self, until: float) -> None:
        """Start nothing before that moment (seconds since 1970). From any thread."""
        self.quiet_until = max(self.quiet_until, until)

    # what happens in the loop

    def take_off(self) -> None:
        while self.waiting and len(self.flying) + self.unsaved < self.seats:
            wait = self.started * GAP if self.started < self.seats else 0.0
            self.started += 1
            task = self.loop.create_task(self.fly(self.waiting.popleft(), wait))
            self.flying.add(task)
            task.add_done_callback(self.land)

    def land(self, task: asyncio.Task[None]) -> None:
        self.flying.discard(task)
        if not task.cancelled():
            self.unsaved += self.careful
        self.take_off()

    async def fly(self, ask: Ask, wait: float) -> None:
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

    async def end(self) -> None:
        self.waiting.clear()
        for task in self.flying:
            task.cancel()
        await asyncio.gather(*self.flying, return_exceptions=True)
        await self.provider.aclose()
        await self.loop.shutdown_asyncgens()
        await self.loop.shutdown_default_executor()
