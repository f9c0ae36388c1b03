"""One process's work on what it holds: when it looks up, when it makes way, and how it hands back what is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError
from django.db.models import Q

from core.jobs.backoff import PausedError, PermanentError, TransientError
from core.jobs.heartbeat import W
from core.jobs.leases import Leases, Row, WorkQueue
from core.jobs.models import LeasedRow

LOOK_EVERY = 0.5  # seconds between looks at whether the work was stopped or taken away
LONGEST = 120.0  # seconds, after which other work that waits gets its turn


def never() -> bool:
    return False


class LetGo(Exception):  # noqa: N818 — a turn of events, not an error
    """The work was stopped or taken away, or makes way: then it is to be queued `again`."""

    def __init__(self, *, again: bool = False) -> None:
        super().__init__()
        self.again = again


class WorkerSession:
    """What sessions have in common. Once it is `over` nothing more starts; what is on its way still comes back."""

    def __init__(self) -> None:
        self.looked = self.began = time.monotonic()
        self.over = self.makes_way = False
        self.fault: TransientError | None = None

    def is_time_to_look(self) -> bool:
        """Whether the last look was a while ago. Then this is one."""
        if time.monotonic() - self.looked < LOOK_EVERY:
            return False
        self.looked = time.monotonic()
        return True

    def has_had_its_turn(self, queue: WorkQueue[LeasedRow], mine: Q) -> bool:
        """Whether it went on for long, and other work waits."""
        return time.monotonic() - self.began > LONGEST and queue.others_wait(mine)


@contextmanager
def handing_back(
    leases: Leases[Row],
    worker: W,
    list_in_hand: Callable[[], Iterable[Row]],
    *,
    fail: Callable[[Row, W, str], object],
    is_culprit: Callable[[Row], bool] = lambda _: True,
) -> Iterator[None]:
    """Hand back what is `list_in_hand`, however the work ends; what will fail again goes to `fail` with the reason.

    Where the database itself fails, nothing can be handed back: it is free again once the process is gone.
    """

    def release(*, again: bool = False) -> None:
        rows = list(list_in_hand())
        for row in rows:
            leases.release(row, worker)
        if again:
            leases.queue([row.pk for row in rows])

    try:
        yield
    except PausedError as pause:
        for row in list_in_hand():
            leases.put_off(row, worker, seconds=pause.retry_after or 0.0, error=str(pause))
    except TransientError as later:
        for row in list_in_hand():
            leases.postpone(row, worker, error=str(later), retry_after=later.retry_after)
    except PermanentError as permanent:
        for row in list_in_hand():
            fail(row, worker, str(permanent))
    except LetGo as turn:
        release(again=turn.again)
    except (GeneratorExit, KeyboardInterrupt):
        release()
        raise
    except (OperationalError, InterfaceError):
        raise
    except Exception as bug:
        for row in list_in_hand():
            if is_culprit(row):
                fail(row, worker, f"{type(bug).__name__}: {bug}")
        release()
        raise
