"""Python callables that the environment names: a lab's own scorers and assistants.

CONCORD_SCORERS="mine=my_package.my_module:score, other=…"
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from importlib import import_module
from inspect import iscoroutinefunction

from core.jobs.backoff import PermanentError, TransientError


def list_callables(variable: str) -> dict[str, str]:
    """List what a variable of the environment names: name -> module:attribute."""
    pairs = (pair.partition("=") for pair in os.environ.get(variable, "").split(",") if "=" in pair)
    return {name.strip(): place.strip() for name, _, place in pairs}


def load_callable(place: str) -> Callable[..., object]:
    """Import module:attribute. PermanentError if it cannot be imported or called."""
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PermanentError(f"{place} cannot be imported: {error}") from error
    if not callable(found):
        raise PermanentError(f"{place} cannot be called")
    called: Callable[..., object] = found
    return called


async def call_within(
    seconds: float, name: str, function: Callable[..., object], *given: object, **named: object
) -> object:
    """Await a coroutine function, run another one in a thread, and return what it returns.

    TransientError after so many seconds; PermanentError, which says `name`, where it raises one of its own.
    """
    try:
        async with asyncio.timeout(seconds):
            if iscoroutinefunction(function):
                return await function(*given, **named)
            return await asyncio.to_thread(function, *given, **named)
    except TimeoutError as error:
        raise TransientError(f"No answer within {seconds:g} s.") from error
    except (PermanentError, TransientError):
        raise
    except Exception as error:
        raise PermanentError(f"{name} raised {type(error).__name__}: {error}") from error
