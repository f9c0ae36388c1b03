"""Many calls to models at once: as many in flight of each model as it takes, in an event loop in a thread of its own.

The loop goes on while the caller saves what came back and sends more; the caller keeps its database connection, and
may be in a loop itself, as in a notebook.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Hashable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import Generic, Protocol, TypeVar

from core.jobs.backoff import TransientError

GAP = 1 / 64  # seconds between the first starts: places filled all at once would be free all at once ever after

BATCH_SIZE = 100
BATCH_SECONDS = 1.0
LINGER = 0.004  # seconds that a first answer waits for others


class Closable(Protocol):
    """What holds connections open."""

    async def aclose(self) -> None: ...


class Startable(Protocol):
    """What is asked. It starts no earlier than `starts` (seconds since 1970)."""

    @property
    def starts(self) -> float: ...


A = TypeVar("A", bound=Startable)
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make one through an alias that names its types
class PoolAnswer(Generic[A, R]):
    """A reply, or the fault that stands in its place."""

    ask: A
    reply: R | None
    fault: Exception | None = None
    latency_ms: int = 0
    cached: bool = False


class RequestPool(ABC, Generic[A, R]):
    """Keeps as many calls in flight as the `limits` of models allow. To be closed, which cancels what is in flight.

    A `careful` pool counts an answer as in flight until it is saved, so that a killed process has paid for no more
    answers than its limits hold without keeping them. The first starts are `gap` seconds apart, which serves models
    that take time to answer. The caller counts what it sent as `outstanding`.
    """

    def __init__(
        self,
        name: str,
        limits: Mapping[Hashable, int],
        providers: Sequence[Closable],
        *,
        careful: bool = True,
        gap: float = GAP,
    ) -> None:
        self.limits, self.careful, self.gap = limits, careful, gap
        self.providers = tuple(dict.fromkeys(providers))
        self.waiting: dict[Hashable, deque[A]] = {model: deque() for model in limits}
        self.taken: Counter[Hashable] = Counter(dict.fromkeys(limits, 0))  # in flight, or not saved yet
        self.started: Counter[Hashable] = Counter()
        self.paused_until: dict[Hashable, float] = dict.fromkeys(limits, 0.0)
        self.tasks: set[asyncio.Task[None]] = set()
        # no SimpleQueue: in Python 3.11 its `get` waits for good where the time is up when it looks again
        self.found: Queue[PoolAnswer[A, R]] = Queue()
        self.outstanding = 0
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name=name, daemon=True)
        self.thread.start()

    @abstractmethod
    def model_of(self, ask: A) -> Hashable:
        """The model that is asked, as `limits` names it."""

    @abstractmethod
    async def call(self, ask: A) -> R:
        """The reply."""

    async def prepare(self, ask: A) -> A:
        """The request in its final form, where that takes waiting that is no part of the reply's time."""
        return ask

    # what the caller does

    def send(self, asks: Iterable[A]) -> None:
        asks = list(asks)
        self.outstanding += len(asks)

        def add() -> None:
            for ask in asks:
                self.waiting[self.model_of(ask)].append(ask)

        self.change(add)

    def batch(self) -> list[PoolAnswer[A, R]]:
        """What has come back: waits for the first answer, a second at most, and takes along what else is there."""
        batch: list[PoolAnswer[A, R]] = []
        end = time.monotonic() + BATCH_SECONDS
        while self.outstanding and len(batch) < BATCH_SIZE and not self.is_waited_for(batch):
            try:
                batch.append(self.found.get(timeout=max(end - time.monotonic(), 0)))
            except Empty:
                break
            self.outstanding -= 1
            if len(batch) == 1:
                end = min(end, time.monotonic() + LINGER)
        return batch

    def is_waited_for(self, batch: Sequence[PoolAnswer[A, R]]) -> bool:
        """Whether nothing else is in flight, nor will be before this batch is saved."""
        return self.careful and 0 < self.taken.total() <= len(batch)

    def mark_saved(self, answers: Iterable[PoolAnswer[A, R]]) -> None:
        """These are safe, and their places free."""
        models = [self.model_of(answer.ask) for answer in answers if not answer.cached]
        if self.careful and models:
            self.change(lambda: self.taken.subtract(models))

    def drop(self, unwanted: Callable[[A], bool] = lambda _: True) -> list[A]:
        """Forget requests that have not started. Returns them; those in flight still come back."""

        async def forget() -> list[A]:
            dropped = [ask for asks in self.waiting.values() for ask in asks if unwanted(ask)]
            self.waiting = {
                model: deque(ask for ask in asks if not unwanted(ask)) for model, asks in self.waiting.items()
            }
            return dropped

        dropped = self.result_of(forget())
        self.outstanding -= len(dropped)
        return dropped

    def pause(self, model: Hashable, seconds: float) -> None:
        """Start no call of the model for so long."""
        self.pause_until(model, time.time() + seconds)

    def pause_until(self, model: Hashable, until: float) -> None:
        """Start no call of the model before that moment (seconds since 1970). From any thread."""
        if until > self.paused_until[model]:
            self.paused_until[model] = until
            self.change(lambda: self.wake(model))

    def change(self, make: Callable[[], object]) -> None:
        """Make a change in the loop, soon, and let it start what it now can."""

        def act() -> None:
            make()
            self.start()

        self.loop.call_soon_threadsafe(act)

    def result_of(self, coroutine: Coroutine[object, object, T]) -> T:
        """What comes of it in the loop. Waits."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def close(self) -> None:
        """Cancel what is in flight and let the providers go. The second time there is nothing left to do."""
        if self.loop.is_closed():
            return
        try:
            self.result_of(self.end())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()

    # what happens in the loop

    def wake(self, model: Hashable) -> None:
        """Go on once the model may be asked again, with the first starts apart."""
        self.started[model] = 0
        if (wait := self.paused_until[model] - time.time()) > 0:
            self.loop.call_later(wait, self.wake, model)
        else:
            self.start()

    def start(self) -> None:
        now = time.time()
        for model, waiting in self.waiting.items():
            limit = self.limits[model]
            while waiting and self.taken[model] < limit and self.paused_until[model] <= now:
                wait = self.started[model] * self.gap if self.started[model] < limit else 0.0
                self.started[model] += 1
                self.taken[model] += 1
                task = self.loop.create_task(self.run(waiting.popleft(), model, wait))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)

    async def run(self, ask: A, model: Hashable, wait: float) -> None:
        if (wait := max(wait, ask.starts - time.time())) > 0:
            await asyncio.sleep(wait)
        if self.paused_until[model] > time.time():  # it has not been sent, and can still be dropped
            self.waiting[model].appendleft(ask)
            self.taken[model] -= 1
            return
        started = time.monotonic()
        reply: R | None = None
        fault: Exception | None = None
        try:
            ask = await self.prepare(ask)
            started = time.monotonic()
            reply = await self.call(ask)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) and task.cancelling():
                raise  # the pool closes
            fault = TransientError("The call was cancelled by what it waited for.")
        except Exception as error:  # noqa: BLE001 — handed to the caller, who tells kinds of faults apart
            fault = error
        self.found.put(PoolAnswer(ask, reply, fault, round((time.monotonic() - started) * 1000)))
        if not self.careful:
            self.taken[model] -= 1
            self.start()

    async def end(self) -> None:
        """Leave nothing behind: no task, no connection, no thread. One that will not close keeps no other open."""
        for waiting in self.waiting.values():
            waiting.clear()
        async with AsyncExitStack() as last_first:
            last_first.push_async_callback(self.loop.shutdown_default_executor)
            last_first.push_async_callback(self.loop.shutdown_asyncgens)
            for provider in self.providers:
                last_first.push_async_callback(provider.aclose)
            while in_flight := asyncio.all_tasks() - {asyncio.current_task()}:
                for task in in_flight:
                    task.cancel()
                await asyncio.gather(*in_flight, return_exceptions=True)
