"""Working through a run: claim a part, work on it and on what follows, and hand back what is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from core.jobs.backoff import PermanentError, TransientError
from core.jobs.heartbeat import beating
from core.jobs.worker_session import handing_back, never
from judging.judges.models import Worker
from judging.judges.services import judges
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.services import provider_batches, request_pool
from judging.runs.services.leases import leases
from judging.runs.services.worker_sessions import RunSession

PAUSE = 0.5  # seconds between looks at parts that others hold


def judge_chunk(chunk_id: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim a part and work on it and what follows. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, nothing more is asked, and the work is handed back.
    """
    free = None if leaving() else leases.free(chunk_id)
    if free and (free.run.in_bulk or request_pool.has_free_slot(free.run.judge, concurrency(free.run))):
        with beating(Worker) as worker:
            for _ in work_on(free.run, worker, lambda: leases.claim(chunk_id, worker), leaving):
                pass


def work_through(run: JudgeRun) -> Iterator[None]:
    """Work through the run in this process, yielding now and then until it is over. Others may help."""
    with beating(Worker) as worker:
        while leases.unfinished().filter(run=run).exists():
            yield from work_on(run, worker, lambda: leases.claim_next(run, worker))
            yield
            if leases.unfinished().filter(run=run).exists():
                time.sleep(PAUSE)


def work_on(
    run: JudgeRun, worker: Worker, claim: Callable[[], JudgeChunk | None], leaving: Callable[[], bool] = never
) -> Iterator[None]:
    """Take seats, claim a part, and work from there on. Nothing where others hold all seats: they do the rest."""
    if run.in_bulk:
        if chunk := claim():
            advance_provider_batch(chunk, worker)
            yield
        return
    with request_pool.take_slots(worker, run.judge, concurrency(run)) as n:
        if n and (chunk := claim()):
            yield from steps(chunk, worker, seats=n, leaving=leaving)


def concurrency(run: JudgeRun) -> int:
    """How many calls the judge may have in flight; one where its settings do not fit, which is said at the part."""
    try:
        return judges.build_provider(run.judge).concurrency
    except PermanentError:
        return 1


def steps(chunk: JudgeChunk, worker: Worker, *, seats: int = 1, leaving: Callable[[], bool] = never) -> Iterator[None]:
    """Work on a part that `worker` holds and on what follows, yielding after every batch saved."""
    session = RunSession(chunk, worker, seats, leaving)
    with handing_back(leases, worker, session.list_in_hand, fail=leases.finish, is_culprit=session.is_culprit):
        yield from session.work()


def advance_provider_batch(chunk: JudgeChunk, worker: Worker) -> None:
    """One step with a part that is handed in as a batch: no call of it takes long, so it needs no seat."""
    with handing_back(leases, worker, lambda: [chunk], fail=leases.finish):
        provider_batches.step(chunk, worker)


def cancel_batch(batch_id: int) -> None:
    """Take back a batch of a run that was stopped. What goes wrong is said at its part; the sweep tries again."""
    try:
        provider_batches.cancel(batch_id)
    except (TransientError, PermanentError) as error:
        JudgeBatch.objects.filter(pk=batch_id).update(error=str(error))
