"""What Celery calls: tasks, which may run twice, and the sweep for lost work."""

from __future__ import annotations

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown

from core.jobs.heartbeat import Heartbeat
from judging.tasks import leaving
from simulation.experiments.services import worker_sessions as experiment_sessions
from simulation.experiments.services.experiments import leases as experiments
from simulation.generation.services import recovery, seed_runs, worker_sessions
from simulation.generation.services.orders import leases as orders
from simulation.results.services import measures, results

sweepers: list[Heartbeat] = []


@shared_task(name=experiments.TASK)
def play(experiment_id: int) -> None:
    """Work through an experiment, if it is free."""
    experiment_sessions.play(experiment_id, leaving=lambda: leaving[0] != 0)


@shared_task(name=orders.TASK)
def make(making_id: int) -> None:
    """Work on an order of material, if it is free."""
    worker_sessions.make(making_id, leaving=lambda: leaving[0] != 0)
    seed_runs.advance_all()


@shared_task(name=measures.TASK)
def measure(kind: str, source: str, reader: str) -> None:
    """Measure the profiles or dialogues of a source, if that is not kept already."""
    measures.compute(kind, source, reader)


@shared_task(name=results.TASK)
def experiment_results(
    experiment_id: int, judge_id: int | None, options: dict[str, object], filters: dict[str, object], reader: str
) -> None:
    """Compute the results of an experiment, if they are not kept already."""
    results.compute(experiment_id, judge_id, options, filters, reader)


def sweep() -> None:
    """Look after lost work, and after material that nobody has measured."""
    recovery.sweep()
    measures.send_due()


@worker_ready.connect
def begin(**_: object) -> None:
    """The worker's main process looks after lost experiments."""
    sweeper = recovery.build_sweeper(sweep)
    sweepers.append(sweeper)
    sweeper.start()


@worker_shutdown.connect
def end(**_: object) -> None:
    while sweepers:
        sweepers.pop().end()
