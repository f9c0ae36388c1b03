"""Working through an experiment: claim it, let its dialogues be played, and hand back what is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from django.db import InterfaceError, OperationalError

from judging.judges.models.workers import Worker
from judging.judges.providers.base import PermanentError, TransientError
from judging.runs.services import workers
from judging.runs.services.worker_sessions import never
from simulation.experiments.models.experiments import Experiment
from simulation.experiments.services import experiments, leases
from simulation.experiments.services.worker_sessions import LetGo, WorkerSession

PAUSE = 0.5  # seconds between looks at an experiment that another process holds


def play(pk: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim an experiment and work on it. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, the experiment is handed back with the turns that are saved.
    """
    if leaving() or leases.free(pk) is None:
        return
    with workers.keep_alive() as worker:
        experiment = leases.claim(pk, worker)
        if experiment:
            with closing(steps(experiment, worker)) as going:
                for _ in going:
                    if leaving():
                        break


def work_through(experiment: Experiment) -> Iterator[None]:
    """Work through the experiment in this process, yielding now and then until it is over."""
    with workers.keep_alive() as worker:
        while leases.list_unfinished().filter(pk=experiment.pk).exists():
            if found := leases.claim(experiment.pk, worker):
                yield from steps(found, worker)
            yield
            if leases.list_unfinished().filter(pk=experiment.pk).exists():
                time.sleep(PAUSE)


def steps(experiment: Experiment, worker: Worker) -> Generator[None]:
    """Work on an experiment that `worker` holds, yielding after every batch saved.

    However it ends, the experiment is handed back. Where the database itself fails, it is free again once the process
    is gone.
    """
    shift = WorkerSession(experiment, worker)
    try:
        yield from shift.work()
        leases.finish(experiment, worker)
    except TransientError as later:
        leases.postpone(experiment, worker, error=str(later), retry_after=later.retry_after)
    except PermanentError as permanent:
        experiments.halt(experiment=experiment, reason=str(permanent))
        leases.release(experiment, worker)
    except LetGo:
        leases.release(experiment, worker)
        if shift.makes_way:
            leases.queue(experiment.pk)
    except (GeneratorExit, KeyboardInterrupt):
        leases.release(experiment, worker)
        raise
    except (OperationalError, InterfaceError):
        raise
    except Exception as bug:
        experiments.halt(experiment=experiment, reason=f"{type(bug).__name__}: {bug}")
        leases.release(experiment, worker)
        raise
