"""The pool of turns of many dialogues at once, for several speakers with limits of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from core.jobs.request_pool import PoolAnswer, RequestPool
from judging.judges.providers.base import Provider, Reply
from judging.judges.providers.requests import JudgeRequest


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


Answer = PoolAnswer[Ask, Reply]


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """A model, which some agents share, and how many calls it takes at once."""

    agents: frozenset[int]
    limit: int


class DialogueScheduler(RequestPool[Ask, Reply]):
    """Keeps as many turns in flight as the models take."""

    def __init__(
        self, speakers: Mapping[int, Provider], limits: Sequence[ModelLimit], *, others: Sequence[Provider] = ()
    ) -> None:
        """`others` are used by what prepares requests, and let go of at the end like the speakers."""
        self.speakers = speakers
        self.model_by_agent = {agent: one for one in limits for agent in one.agents}
        for agent, speaker in speakers.items():
            speaker.on_wait = partial(self.pause, self.model_by_agent[agent])
        super().__init__("dialogues", {one: one.limit for one in limits}, [*speakers.values(), *others])

    def model_of(self, ask: Ask) -> ModelLimit:
        return self.model_by_agent[ask.agent]

    async def prepare(self, ask: Ask) -> Ask:
        return replace(ask, request=await ask.prepare()) if ask.prepare else ask

    async def call(self, ask: Ask) -> Reply:
        return await self.speakers[ask.agent].judge(ask.request)
