"""A person's own scorer: a Python callable that the environment names.

    CONCORD_SCORERS="mine=my_package.my_module:score, other=…"

The callable gets `persona`, `question` and `response` as texts and returns a number, the higher the better. It may be
a coroutine function; an ordinary one runs in a thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers.scorer.protocol import Score, Scorer, to_score

VARIABLE = "CONCORD_SCORERS"


class NamedScorer(Scorer):
    is_asked = True

    def problems(self) -> list[str]:
        try:
            assert callable(self.function)
        except PermanentError as error:
            return [str(error)]
        return []

    @cached_property
    def function(self) -> Callable[..., Any]:
        """PermanentError if the environment names none, or it cannot be imported."""
        place = list_callables().get(self.name)
        if place is None:
            known = ", ".join(("embedding", "endpoint", "model", *list_callables()))
            raise PermanentError(f"there is no scorer {self.name!r}; there are {known}, and what {VARIABLE} names")
        module, _, name = place.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise PermanentError(f"{place} cannot be imported: {error}") from error
        if not callable(found):
            raise PermanentError(f"{place} cannot be called")
        called: Callable[..., Any] = found
        return called

    async def score(self, persona: str, question: str, response: str, *, seed: int = 0) -> Score:  # noqa: ARG002
        try:
            async with asyncio.timeout(self.parameters.timeout):
                return to_score(await self.invoke(persona, question, response))
        except TimeoutError as error:
            raise TransientError(f"No score within {self.parameters.timeout:g} s.") from error
        except (PermanentError, TransientError):
            raise
        except Exception as error:
            raise PermanentError(f"{self.name} raised {type(error).__name__}: {error}") from error

    async def invoke(self, persona: str, question: str, response: str) -> Any:
        if iscoroutinefunction(self.function):
            return await self.function(persona, question, response)
        return await asyncio.to_thread(self.function, persona, question, response)


def list_callables() -> dict[str, str]:
    """Name -> module:attribute, as the environment says."""
    pairs = (pair.partition("=") for pair in os.environ.get(VARIABLE, "").split(",") if "=" in pair)
    return {name.strip(): place.strip() for name, _, place in pairs}
