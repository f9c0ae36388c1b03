"""Requests that begin alike: the first goes ahead, and the others follow once the other side has read the beginning."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REMEMBERED = 256


class Turns:
    """Who sends at the same time pays for the same beginning several times over, since nothing has been kept yet."""

    def __init__(self) -> None:
        self.first: OrderedDict[str, asyncio.Event] = OrderedDict()

    @asynccontextmanager
    async def wait_for_first(self, beginning: str) -> AsyncIterator[None]:
        """Wait while the first request with this beginning is on its way. An empty beginning waits for nobody."""
        if not beginning:
            yield
            return
        if (ahead := self.first.get(beginning)) is not None:
            await ahead.wait()
            yield
            return
        gone = self.first[beginning] = asyncio.Event()
        while len(self.first) > REMEMBERED:
            self.first.popitem(last=False)
        try:
            yield
        finally:
            gone.set()
