"""Calls over HTTP: which failures pass by themselves, how long to wait, when to try again.

The SDKs' own retries are not used: they wait for as long as they are told to, which may be an hour, and count nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from types import ModuleType
from typing import TypeVar

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import NoTemperatureError, Reply, TooLongError, ignore_wait
from judging.judges.providers.keys import redact_key
from judging.judges.providers.requests import JudgeRequest, Prompt

T = TypeVar("T")

PATIENCE = 20.0
"""Seconds that a call waits by itself. Where longer is asked for, the caller settles when to come again."""

FIRST_WAIT = 0.5
NO_ANSWER = "No answer that can be read"
TOO_LONG = (
    "prompt is too long",
    "context_length_exceeded",
    "maximum context length",
    "exceed_context_size",
    "exceeds the available context size",
    "request_too_large",
)
"""What servers say of a prompt that does not fit: Anthropic, OpenAI, vLLM, llama.cpp."""


async def patiently(
    call: Callable[[], Awaitable[T]], *, retries: int, told: Callable[[float], None] = ignore_wait
) -> T:
    """The call's result, tried again up to `retries` times after transient errors that ask for no long wait.

    `told` is called with the seconds that the other side asks to wait, whenever it does.
    """
    for attempt in range(retries + 1):
        try:
            return await call()
        except TransientError as error:
            wait = error.retry_after
            if wait is not None:
                told(wait)
            else:
                wait = FIRST_WAIT * 2**attempt * random.uniform(0.75, 1.25)  # noqa: S311 — so that not all come at once
            if attempt == retries or wait > PATIENCE:
                raise
            await asyncio.sleep(wait)
    raise AssertionError("unreachable")


class OversizedError(PermanentError):
    """An answer so long that it was not read to its end."""


async def judge_patiently(
    provider: base.Provider, request: JudgeRequest, call: Callable[[Prompt], Awaitable[Reply]]
) -> Reply:
    """A model's reply to the prompt of a request; unscored where the prompt or the answer is too long."""
    prompt = request.prompt
    if prompt is None:
        raise PermanentError("A model needs a prompt.")
    try:
        if too_long := await provider.refuse_too_long(request):
            return too_long
        return await patiently(
            lambda: provider.call_at_zero(lambda: call(prompt)),
            retries=provider.parameters.max_retries,
            told=provider.on_wait,
        )
    except TooLongError as error:
        return base.does_not_fit(said=str(error))
    except OversizedError as error:
        return Reply(unscored="oversized", explanation=str(error))


@contextmanager
def translate_errors(sdk: ModuleType, *, timeout: float, key: str = "") -> Iterator[None]:
    """What goes wrong inside, in our words, which never hold the key.

    `sdk` is openai or anthropic, whose errors go by the same names.
    """
    try:
        yield
    except sdk.APIStatusError as error:
        said = redact_key(key, describe_error(error.body, error.message))
        raise failure(error.status_code, said, error.response.headers) from error
    except sdk.APITimeoutError as error:
        raise TransientError(f"No answer within {timeout:g} s.") from error
    except sdk.APIConnectionError as error:
        if isinstance(error.__cause__, OversizedError):
            raise error.__cause__ from error
        raise TransientError(redact_key(key, f"No connection: {error.__cause__ or error.message}")) from error
    except JSONDecodeError as error:
        raise TransientError(f"{NO_ANSWER}: it is not JSON, perhaps a page of a proxy or the wrong address.") from error
    except (sdk.APIError, RecursionError) as error:
        raise TransientError(redact_key(key, f"{NO_ANSWER}: {error}")) from error


def failure(status: int, said: str, headers: Mapping[str, str]) -> TransientError | PermanentError:
    """Whether trying again can help: rate limits, timeouts, conflicts and errors of the server; nothing else."""
    if status in (408, 409, 429) or status >= 500:
        return TransientError(f"{status} {said}", retry_after=retry_after(headers))
    if status == 400 and "temperature" in said.lower():
        return NoTemperatureError(f"{status} {said}")
    too_long = status == 413 or (status == 400 and any(words in said.lower() for words in TOO_LONG))
    return (TooLongError if too_long else PermanentError)(f"{status} {said}")


def describe_error(body: object, message: object) -> str:
    """The other side's own words, with the code that some put beside them; the SDK's where it said nothing."""
    found = body if isinstance(body, dict) else {}
    inner = found.get("error", found)
    words = inner if isinstance(inner, dict) else {"message": inner}
    parts = [words.get("message"), words.get("code")]
    return " ".join(part for part in parts if isinstance(part, str)) or str(message)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, which the other side may give in milliseconds, in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    try:
        when = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


__all__ = [
    *("NO_ANSWER", "PATIENCE", "OversizedError"),
    *("failure", "judge_patiently", "patiently", "retry_after", "translate_errors"),
]
