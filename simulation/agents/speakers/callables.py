"""A person's own system as the assistant under test: a Python callable that the environment names.

    CONCORD_ASSISTANTS="mine=my_package.my_module:reply, other=…"

The callable gets `messages` ([{"role", "content"}, …], the user's turn last) and `system` (what the condition grants),
and returns the reply as text. It may be a coroutine function; an ordinary one runs in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from pydantic import Field

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import CriterionSpec, JudgeRequest, Reply
from simulation.agents.speakers.base import parse_messages

VARIABLE = "CONCORD_ASSISTANTS"


class CallableParameters(base.Parameters):
    timeout: float = Field(default=120, gt=0, description="Seconds for one turn.")


class CallableSpeaker(base.Provider):
    Parameters = CallableParameters

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        try:
            assert callable(self.function)
        except PermanentError as error:
            return [str(error)]
        return []

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The callable that goes by the model's name. PermanentError if there is none, or it cannot be imported."""
        place = list_callables().get(self.model)
        if place is None:
            known = ", ".join(list_callables()) or "none"
            raise PermanentError(f"{VARIABLE} names no {self.model!r}; it names: {known}")
        module, _, name = place.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise PermanentError(f"{place} cannot be imported: {error}") from error
        if not callable(found):
            raise PermanentError(f"{place} cannot be called")
        called: Callable[..., Any] = found
        return called

    async def judge(self, request: JudgeRequest) -> Reply:
        prompt = request.prompt
        messages = [{"role": message.role, "content": message.content} for message in parse_messages(prompt)]
        system = prompt.system if prompt else ""
        try:
            async with asyncio.timeout(self.parameters.timeout):
                return Reply(text=str(await self.invoke(messages, system)))
        except TimeoutError as error:
            raise TransientError(f"No answer within {self.parameters.timeout:g} s.") from error
        except (PermanentError, TransientError):
            raise
        except Exception as error:
            raise PermanentError(f"{self.model} raised {type(error).__name__}: {error}") from error

    async def invoke(self, messages: list[dict[str, str]], system: str) -> Any:
        if iscoroutinefunction(self.function):
            return await self.function(messages, system=system)
        return await asyncio.to_thread(self.function, messages, system=system)


def list_callables() -> dict[str, str]:
    """Name -> module:attribute, as the environment says."""
    pairs = (pair.partition("=") for pair in os.environ.get(VARIABLE, "").split(",") if "=" in pair)
    return {name.strip(): place.strip() for name, _, place in pairs}
