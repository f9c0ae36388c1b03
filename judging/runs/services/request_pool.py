"""The pool of requests to one judge's provider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from core.jobs.backoff import PermanentError
from core.jobs.request_pool import PoolAnswer, RequestPool
from judging.judges.providers.base import OWN_EXAMPLE, Provider, Reply
from judging.runs.queries.requests import Pending


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of a part of a run. It starts no earlier than `starts` (seconds since 1970)."""

    pending: Pending
    part: int = 0
    key: str = ""
    tokens: int = 0
    starts: float = 0.0


Answer = PoolAnswer[Ask, Reply]


def error_of(answer: Answer) -> str:
    """Why a request will never be answered; empty if it is, or may be later."""
    return str(answer.fault) if isinstance(answer.fault, PermanentError) else ""


def build_example_answer(ask: Ask) -> Answer:
    """What is kept of an item that is one of the judge's examples, without asking. It answers no other request."""
    return Answer(replace(ask, key=""), OWN_EXAMPLE, cached=True)


class JudgePool(RequestPool[Ask, Reply]):
    """Keeps as many calls of a provider in flight as this process may."""

    def __init__(self, provider: Provider, seats: int, *, careful: bool = True) -> None:
        self.provider = provider
        provider.on_wait = partial(self.pause, provider)
        super().__init__("requests", {provider: seats}, [provider], careful=careful)

    def model_of(self, ask: Ask) -> Provider:  # noqa: ARG002 — there is one
        return self.provider

    async def call(self, ask: Ask) -> Reply:
        return await self.provider.judge(ask.pending.request)
