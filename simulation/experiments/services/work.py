"""Working through an experiment: claim it, let its dialogues be played, and hand back what is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from core.jobs.heartbeat import beating
from core.jobs.worker_session import handing_back, never
from judging.judges.models.workers import Worker
from simulation.experiments.models.experiments import Experiment
from simulation.experiments.services import experiments
from simulation.experiments.services.leases import leases
from simulation.experiments.services.worker_sessions import ExperimentSession

PAUSE = 0.5  # seconds between looks at an experiment that another process holds


def play(pk: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim an experiment and work on it. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, the experiment is handed back with the turns that are saved.
    """
    if leaving() or leases.free(pk) is None:
        return
    with beating(Worker) as worker:
        experiment = leases.claim(pk, worker)
        if experiment:
            with closing(steps(experiment, worker)) as going:
                for _ in going:
                    if leaving():
                        break


def work_through(experiment: Experiment) -> Iterator[None]:
    """Work through the experiment in this process, yielding now and then until it is over."""
    with beating(Worker) as worker:
        while leases.unfinished().filter(pk=experiment.pk).exists():
            if found := leases.claim(experiment.pk, worker):
                yield from steps(found, worker)
            yield
            if leases.unfinished().filter(pk=experiment.pk).exists():
                time.sleep(PAUSE)


def steps(experiment: Experiment, worker: Worker) -> Generator[None]:
    """Work on an experiment that `worker` holds, yielding after every batch saved."""

    with handing_back(leases, worker, lambda: [experiment], fail=halt):
        yield from ExperimentSession(experiment, worker).work()
        leases.finish(experiment, worker)


def halt(experiment: Experiment, worker: Worker, reason: str) -> None:
    """Stop an experiment that cannot go on, and let go of it."""
    experiments.halt(experiment=experiment, reason=reason)
    leases.release(experiment, worker)
