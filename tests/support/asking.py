"""Short ways to ask a provider something."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from judging.judges import prompts
from judging.judges.providers import create
from judging.judges.providers.base import Provider, Reply
from judging.judges.providers.requests import Category, CriterionSpec, DialogueContent, JudgeRequest, Turn
from tests.support.model_server import MODEL

CRITERION = CriterionSpec(
    "personalization", "Personalization", "How well?", "", "ordinal", (Category("1", "no"), Category("2", "yes"))
)
SHORT = DialogueContent(turns=(Turn("user", "Book me a table."),))
LONG = DialogueContent(turns=(Turn("user", "Book me a table for two. " * 200),))
"""Long enough for its beginning to be worth keeping."""


def request(content: DialogueContent = SHORT, criterion: CriterionSpec = CRITERION, **options: Any) -> JudgeRequest:
    return JudgeRequest("d1", criterion, content, prompt=prompts.render(criterion, content, **options))


def using(provider: str, act: Callable[[Any], Awaitable[Any]], *, model: str = MODEL, **parameters: Any) -> Any:
    """What `act` returns for a provider made and let go of in one loop."""

    async def made() -> Any:
        made: Provider = create(provider, model=model, parameters={"max_retries": 0, **parameters})
        try:
            return await act(made)
        finally:
            await made.aclose()

    return run(made())


def judge(provider: str, asked: JudgeRequest | None = None, **options: Any) -> Reply:
    reply: Reply = using(provider, lambda made: made.judge(asked or request()), **options)
    return reply


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What the coroutine returns, from a loop in another thread: a browser test may have left one in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
