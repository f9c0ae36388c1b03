"""Working through a run: claim a part, work on it and on what follows, and hand back what is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from django.db import InterfaceError, OperationalError

from judging.judges.models.workers import Worker
from judging.judges.providers.base import PermanentError, TransientError
from judging.judges.services import judges
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.services import concurrency_slots, leases, provider_batches, workers
from judging.runs.services.worker_sessions import LetGo, PausedError, WorkerSession, never

PAUSE = 0.5  # seconds between looks at parts that others hold


def judge_chunk(chunk_id: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim a part and work on it and what follows. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, nothing more is asked, and the work is handed back.
    """
    free = None if leaving() else leases.free(chunk_id)
    if free and (free.run.in_bulk or concurrency_slots.has_free_slot(free.run.judge, concurrency(free.run))):
        with workers.keep_alive() as worker:
            for _ in run_session(free.run, worker, lambda: leases.claim(chunk_id, worker), leaving):
                pass


def work_through(run: JudgeRun) -> Iterator[None]:
    """Work through the run in this process, yielding now and then until it is over. Others may help."""
    with workers.keep_alive() as worker:
        while leases.list_unfinished().filter(run=run).exists():
            yield from run_session(run, worker, lambda: leases.claim_next(run, worker))
            yield
            if leases.list_unfinished().filter(run=run).exists():
                time.sleep(PAUSE)


def run_session(
    run: JudgeRun, worker: Worker, claim: Callable[[], JudgeChunk | None], leaving: Callable[[], bool] = never
) -> Iterator[None]:
    """Take seats, claim a part, and work from there on. Nothing where others hold all seats: they do the rest."""
    if run.in_bulk:
        if chunk := claim():
            advance_provider_batch(chunk, worker)
            yield
        return
    with concurrency_slots.take_slots(worker, run.judge, concurrency(run)) as n:
        if n and (chunk := claim()):
            yield from steps(chunk, worker, seats=n, leaving=leaving)


def concurrency(run: JudgeRun) -> int:
    """How many calls the judge may have in flight; one where its settings do not fit, which is said at the part."""
    try:
        return judges.build_provider(run.judge).concurrency
    except PermanentError:
        return 1


def steps(chunk: JudgeChunk, worker: Worker, *, seats: int = 1, leaving: Callable[[], bool] = never) -> Iterator[None]:
    """Work on a part that `worker` holds and on what follows, yielding after every batch saved.

    However it ends, the parts in hand are handed back. Where the database itself fails, nothing can be handed back:
    they are free again once the process is gone.
    """
    shift = WorkerSession(chunk, worker, seats, leaving)
    try:
        yield from shift.work()
    except PausedError as pause:
        for part in shift.list_in_hand():
            leases.put_off(part, worker, seconds=pause.retry_after or 0.0, error=str(pause))
    except TransientError as later:
        for part in shift.list_in_hand():
            leases.postpone(part, worker, error=str(later), retry_after=later.retry_after)
    except PermanentError as permanent:
        for part in shift.list_in_hand():
            leases.finish(part, worker, error=str(permanent))
    except LetGo:
        release(shift, worker)
    except (GeneratorExit, KeyboardInterrupt):
        release(shift, worker)
        raise
    except (OperationalError, InterfaceError):
        raise
    except Exception as bug:
        for part in shift.list_in_hand():
            if shift.culprit in (part.pk, None):
                leases.finish(part, worker, error=f"{type(bug).__name__}: {bug}")
        release(shift, worker)
        raise


def advance_provider_batch(chunk: JudgeChunk, worker: Worker) -> None:
    """One step with a part that is handed in as a batch: no call of it takes long, so it needs no seat."""
    try:
        provider_batches.step(chunk, worker)
    except TransientError as later:
        leases.postpone(chunk, worker, error=str(later), retry_after=later.retry_after)
    except PermanentError as permanent:
        leases.finish(chunk, worker, error=str(permanent))
    except (OperationalError, InterfaceError):
        raise
    except Exception as bug:
        leases.finish(chunk, worker, error=f"{type(bug).__name__}: {bug}")
        raise


def cancel_batch(batch_id: int) -> None:
    """Take back a batch of a run that was stopped. What goes wrong is said at its part; the sweep tries again."""
    try:
        provider_batches.cancel(batch_id)
    except (TransientError, PermanentError) as error:
        JudgeBatch.objects.filter(pk=batch_id).update(error=str(error))


def release(shift: WorkerSession, worker: Worker) -> None:
    for part in shift.list_in_hand():
        leases.release(part, worker)
