"""A provider that asks for money: it counts its calls and says what tokens they took."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from judging.judges import providers
from judging.judges.providers import base
from judging.judges.providers.base import Reply, Usage
from judging.judges.providers.requests import JudgeRequest

NAME = "paid"


class Parameters(base.Parameters):
    delay: float = 0.0
    objection: str = ""


class Paid(base.Provider):
    """1,000 tokens in, 100 out."""

    Parameters = Parameters
    needs_prompt = True
    calls: ClassVar[list[JudgeRequest]] = []

    async def probe(self) -> list[str]:
        return [self.parameters.objection] if self.parameters.objection else []

    async def judge(self, request: JudgeRequest) -> Reply:
        self.calls.append(request)
        await asyncio.sleep(self.parameters.delay)
        values = request.criterion.values
        shares = {value: 1 / len(values) for value in values}
        return Reply(value=values[0], usage=Usage(1000, 100), distribution=shares)


@pytest.fixture
def paid(monkeypatch: Any) -> Iterator[list[JudgeRequest]]:
    """The requests that were paid for."""
    monkeypatch.setitem(providers.REGISTRY, NAME, providers.ProviderEntry("tests.support.paid:Paid", label="Paid"))
    Paid.calls.clear()
    yield Paid.calls
    Paid.calls.clear()


__all__ = ["NAME", "Paid", "paid"]
