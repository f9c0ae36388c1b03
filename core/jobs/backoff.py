"""What goes wrong outside: whether to try again, and when. Providers use it, so it imports no framework.

Waits between calls of one attempt are short and belong to the providers; those of webhooks are hours, as an address may
be away for a day.
"""

from __future__ import annotations

FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0  # seconds


class TransientError(Exception):
    """The call failed for now (rate limit, overload, network). `retry_after` is in seconds, if the other side said."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PausedError(TransientError):
    """The provider asks to wait longer than a process should."""


class PermanentError(Exception):
    """The call will fail again if it is repeated: a wrong key, an unknown model, a request that is too large."""


def compute_wait(attempts: int, retry_after: float | None) -> float:
    """Compute the seconds until the next attempt: twice as many each time, or more where more are asked for."""
    return max(retry_after or 0.0, min(FIRST_WAIT * 2.0 ** (attempts - 1), LONGEST_WAIT))
