"""What a worker looks after in simulations: lost experiments, lost orders, and runs from seeds whose stage is over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from core.jobs import leases
from core.jobs.heartbeat import Heartbeat, set_back_before
from judging.judges.models import Worker
from simulation.experiments.services.experiments import leases as experiments
from simulation.generation.services import seed_runs
from simulation.generation.services.orders import leases as orders

QUEUES = (experiments, orders)


def sweep() -> int:
    """Send again for what nobody works on. Returns how many. Any number of processes may do so at once."""
    return leases.sweep(Worker, QUEUES) + seed_runs.advance_all()


def take_over() -> int:
    return leases.take_over(Worker, QUEUES)


def move_due_times(by: timedelta) -> None:
    leases.set_back(Worker, QUEUES, by)


def build_sweeper(also: Callable[[], object] = sweep) -> Heartbeat:
    """Build the thread that sweeps. The worker reports from another one, as the next stage of a run may take long."""
    return Heartbeat(None, first=take_over, also=also, set_back=move_due_times, before=set_back_before(Worker))
