from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from core.accounts.models.projects import choose_project
from simulation.agents.models import Agent
from simulation.experiments.models import Experiment
from simulation.generation.models import Making
from simulation.generation.services import recovery
from tests.db.judging.runs.services.test_recovery import ended
from tests.support import factories

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(days=2)


@pytest.fixture
def swept(sent, django_capture_on_commit_callbacks):
    def sweep() -> list[int]:
        with django_capture_on_commit_callbacks(execute=True):
            recovery.sweep()
        return sent

    return sweep


def test_one_whose_worker_is_gone_is_freed_and_sent_for(swept):
    gone = factories.WorkerFactory(seen_at=timezone.now() - LONG_AGO)
    experiment = factories.ExperimentFactory(worker=gone, queued_at=timezone.now())

    assert swept() == [experiment.pk]
    assert Experiment.objects.get().worker is None


def test_one_that_is_worked_on_is_left_alone(swept):
    factories.ExperimentFactory(worker=factories.WorkerFactory(), queued_at=timezone.now() - LONG_AGO)

    assert swept() == []


def test_a_lost_message_is_sent_again_and_only_once_a_while(swept):
    experiment = factories.ExperimentFactory(queued_at=timezone.now() - LONG_AGO)

    assert swept() == [experiment.pk]
    assert swept() == [experiment.pk], "it was sent just now"


def test_one_that_waits_for_its_own_process_or_for_later_is_left_alone(swept):
    factories.ExperimentFactory(queued_at=None)
    factories.ExperimentFactory(queued_at=timezone.now() + LONG_AGO)
    factories.ExperimentFactory(queued_at=timezone.now() - LONG_AGO, stopped_at=timezone.now())

    assert swept() == []


def test_orders_of_material_too(swept):
    agent = Agent.objects.create(provider="scripted", settings_hash="a")
    lost = Making.objects.create(
        project=choose_project(None), kind="tasks", agent=agent, queued_at=timezone.now() - LONG_AGO
    )
    Making.objects.create(project=choose_project(None), kind="tasks", agent=agent, queued_at=timezone.now())

    assert swept() == [lost.pk]


def test_after_the_clock_was_set_back_what_was_sent_is_not_waited_for(swept, monkeypatch):
    experiment = factories.ExperimentFactory(queued_at=timezone.now() - timedelta(minutes=2))
    sweeper = recovery.build_sweeper()
    earlier = timezone.now() - timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: earlier)
    assert swept() == []

    assert Experiment.objects.get().queued_at > earlier  # and so it would wait for an hour

    sweeper.beat()

    assert Experiment.objects.get().queued_at == earlier  # sent again
    assert experiment.pk == Experiment.objects.get().pk


def test_a_clock_that_was_set_back_while_no_worker_was_there_is_noticed_at_the_start(swept):
    experiment = factories.ExperimentFactory(queued_at=timezone.now() + timedelta(minutes=58))
    factories.WorkerFactory(seen_at=timezone.now() + timedelta(hours=1))
    recovery.build_sweeper().beat()
    experiment.refresh_from_db()
    assert experiment.queued_at < timezone.now()


def test_a_worker_that_starts_takes_up_what_its_killed_predecessor_held(sent, django_capture_on_commit_callbacks):
    experiment = factories.ExperimentFactory(worker=ended(), queued_at=timezone.now())
    told = factories.ExperimentFactory(queued_at=timezone.now())
    agent = Agent.objects.create(provider="scripted", settings_hash="a")
    held = Making.objects.create(
        project=choose_project(None), kind="check", agent=agent, worker=ended(), queued_at=timezone.now()
    )

    with django_capture_on_commit_callbacks(execute=True):
        assert recovery.take_over() == 3

    assert sent[:2] == [experiment.pk, told.pk]
    assert not Experiment.objects.filter(worker__isnull=False).exists()
    held.refresh_from_db()
    assert held.worker is None
