"""An event loop in a thread beside the caller, which keeps many calls to models in flight.

The loop goes on while the caller saves what has landed and sends more; the caller keeps its database connection, and
may be in a loop itself, as in a notebook.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from judging.judges.providers.base import Provider

T = TypeVar("T")
Landed = TypeVar("Landed")

BATCH_SIZE = 100
BATCH_SECONDS = 1.0
LINGER = 0.004  # seconds that a first answer waits for others


class AsyncBridge(ABC, Generic[Landed]):
    """Calls in flight in a loop of their own. To be closed, which cancels them and lets the providers go.

    What comes back is put into `landed`, in the loop; the caller counts what it sent as `outstanding`.
    """

    def __init__(self, name: str, providers: Sequence[Provider]) -> None:
        """The loop runs from here on, in a thread of that `name`: subclasses set what they have before."""
        self.providers = tuple(dict.fromkeys(providers))
        self.landed: SimpleQueue[Landed] = SimpleQueue()
        self.outstanding = 0
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, name=name, daemon=True)
        self.thread.start()

    # what the caller does

    def batch(self) -> list[Landed]:
        """What has landed: waits for the first answer, a second at most, and takes along what else is there."""
        batch: list[Landed] = []
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

    def call_in_loop(self, act: Callable[[], object]) -> None:
        """Have something done in the loop, soon."""
        self.loop.call_soon_threadsafe(act)

    def result_of(self, coroutine: Coroutine[Any, Any, T]) -> T:
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

    @abstractmethod
    def finish_all(self) -> None:
        """Forget what waits for its start. What is in flight is cancelled right after."""

    async def end(self) -> None:
        """Leave nothing behind: no task, no connection, no thread. One that will not close keeps no other open."""
        self.finish_all()
        async with AsyncExitStack() as last_first:
            last_first.push_async_callback(self.loop.shutdown_default_executor)
            last_first.push_async_callback(self.loop.shutdown_asyncgens)
            for provider in self.providers:
                last_first.push_async_callback(provider.aclose)
            while flying := asyncio.all_tasks() - {asyncio.current_task()}:
                for task in flying:
                    task.cancel()
                await asyncio.gather(*flying, return_exceptions=True)
