"""The leases of experiments. One process holds an experiment at a time.

A dialogue is mostly waiting, so one process keeps as many in flight as the models allow; several experiments go to
several workers.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.studies.services import webhooks
from core.jobs.leases import Leases
from judging.judges.models.workers import Worker
from simulation.experiments.models.experiments import Experiment


class ExperimentLeases(Leases[Experiment]):
    """Experiments that are neither finished nor stopped."""

    MODEL = Experiment
    TASK = "simulation.play"
    LEFT = Q(finished_at__isnull=True, stopped_at__isnull=True)
    RELATED = ("user_agent", "embedder")

    def give_up(self, row: Experiment, unchanged: QuerySet[Experiment]) -> None:
        unchanged.update(stopped_at=timezone.now(), stop_reason=self.say_given_up(row.attempts, row.error))

    def progressed(self, experiment: Experiment, worker: Worker) -> None:
        """A turn was saved: what went wrong before is over."""
        held = self.filter_held(experiment, worker)
        held.exclude(attempts=1, error="").update(attempts=1, error="")
        experiment.attempts = 1

    def finish(self, experiment: Experiment, worker: Worker) -> bool:
        """The worker is through with all dialogues."""
        now = timezone.now()
        with transaction.atomic():
            if self.filter_held(experiment, worker).update(finished_at=now, worker=None, error="") != 1:
                return False
            data = {"experiment": experiment.pk, "name": experiment.name}
            subject = f"experiment {experiment.pk} {now.isoformat()}"
            webhooks.tell("experiment.finished", project=experiment.project_id, subject=subject, data=data)
        return True


leases = ExperimentLeases()
