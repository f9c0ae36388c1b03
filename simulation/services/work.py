"""Working through an experiment: claim it, let its dialogues be played, and hand back what is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from django.db import InterfaceError, OperationalError

from judging.models import Worker
from judging.providers.base import PermanentError, TransientError
from judging.services import workers
from judging.services.shifts import never
from simulation.models import Experiment
from simulation.services import claims, experiments
from simulation.services.shifts import LetGo, Shift

PAUSE = 0.5  # seconds between looks at an experiment that another process holds


def play(pk: int, *, leaving: Callable[[], bool] = never) -> None:
    """Claim an experiment and work on it. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, the experiment is handed back with the turns that are saved.
    """
    if leaving() or claims.free(pk) is None:
        return
    with workers.beating() as worker:
        experiment = claims.claim(pk, worker)
        if experiment:
            with closing(steps(experiment, worker)) as going:
                for _ in going:
                    if leaving():
                        break


def through(experiment: Experiment) -> Iterator[None]:
    """Work through the experiment in this process, yielding now and then until it is over."""
    with workers.beating() as worker:
        while claims.unfinished().filter(pk=experiment.pk).exists():
            if found := claims.claim(experiment.pk, worker):
                yield from steps(found, worker)
            yield
            if claims.unfinished().filter(pk=experiment.pk).exists():
                time.sleep(PAUSE)


def steps(experiment: Experiment, worker: Worker) -> Generator[None]:
    """Work on an experiment that `worker` holds, yielding after every batch saved.

    However it ends, the experiment is handed back. Where the database itself fails, it is free again once the process
    is gone.
    """
    shift = Shift(experiment, worker)
    try:
        yield from shift.work()
        claims.finish(experiment, worker)
    except TransientError as later:
        claims.postpone(experiment, worker, error=str(later), retry_after=later.retry_after)
    except PermanentError as permanent:
        experiments.halt(experiment=experiment, reason=str(permanent))
        claims.release(experiment, worker)
    except LetGo:
        claims.release(experiment, worker)
        if shift.makes_way:
            claims.queue(experiment.pk)
    except (GeneratorExit, KeyboardInterrupt):
        claims.release(experiment, worker)
        raise
    except (OperationalError, InterfaceError):
        raise
    except Exception as bug:
        experiments.halt(experiment=experiment, reason=f"{type(bug).__name__}: {bug}")
        claims.release(experiment, worker)
        raise
