from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from core import processes
from core.jobs import heartbeat
from judging.judges.models import Worker
from judging.runs.services import recovery, request_pool
from judging.runs.services.leases import leases
from tests.support import factories

pytestmark = pytest.mark.django_db


def long_ago(**ago):
    return timezone.now() - timedelta(**ago or {"minutes": 5})


@pytest.fixture
def queued(monkeypatch):
    """The parts that are handed out again."""
    found = []
    monkeypatch.setattr(leases, "queue", found.extend)
    return found


def a_part(**options):
    return factories.JudgeChunkFactory(item_ids=[], **options)


def test_the_part_of_a_process_that_is_gone_is_handed_out_again(queued):
    part = a_part(worker=factories.WorkerFactory(seen_at=long_ago()))

    assert recovery.sweep() == 1

    part.refresh_from_db()
    assert part.worker is None
    assert queued == [part.pk]


def test_the_part_of_a_living_process_is_left_alone(queued):
    part = a_part(worker=factories.WorkerFactory(), queued_at=long_ago())

    recovery.sweep()

    part.refresh_from_db()
    assert part.worker
    assert queued == []


@pytest.mark.parametrize("over", ["finished_at", "stopped_at"])
def test_a_run_that_is_over_is_left_alone(queued, over):
    part = a_part(worker=factories.WorkerFactory(seen_at=long_ago()), **{f"run__{over}": timezone.now()})

    recovery.sweep()

    part.refresh_from_db()
    assert part.worker
    assert queued == []


class TestLostMessages:
    def test_a_part_that_waits_while_a_worker_is_idle_is_sent_again(self, queued):
        factories.WorkerFactory(slots=2)
        part = a_part(queued_at=long_ago())

        recovery.sweep()

        assert queued == [part.pk]

    def test_without_a_worker_there_is_nobody_to_send_it_to(self, queued):
        factories.WorkerFactory(slots=2, seen_at=long_ago())
        a_part(queued_at=long_ago())

        recovery.sweep()

        assert queued == []

    def test_while_all_are_busy_waiting_is_no_sign_of_loss(self, queued):
        factories.WorkerFactory(slots=1)
        a_part(worker=factories.WorkerFactory(slots=0))
        a_part(queued_at=long_ago())

        recovery.sweep()

        assert queued == []

    @pytest.mark.parametrize("seconds", [None, 0, 3600])
    def test_what_was_never_sent_or_just_now_or_is_put_off_waits(self, queued, seconds):
        factories.WorkerFactory(slots=2)
        a_part(queued_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds))

        recovery.sweep()

        assert queued == []

    def test_a_few_at_a_time_the_longest_waiting_first(self, queued):
        factories.WorkerFactory(slots=1)
        run = factories.JudgeRunFactory()
        parts = [a_part(run=run, queued_at=long_ago(minutes=60 - at)) for at in range(10)]

        recovery.sweep()

        assert queued == [part.pk for part in parts[:4]]


def test_a_run_whose_process_ended_before_it_could_say_so_is_finished(queued):
    part = a_part(finished_at=timezone.now())

    recovery.sweep()

    part.run.refresh_from_db()
    assert part.run.finished_at


def test_processes_not_seen_for_a_day_are_forgotten(queued):
    factories.WorkerFactory(seen_at=long_ago(days=2))
    recent = factories.WorkerFactory(seen_at=long_ago(hours=2))

    recovery.sweep()

    assert list(Worker.objects.all()) == [recent]


class TestAClockThatIsSetBack:
    """By an hour: what is in the database has times that are yet to come."""

    def test_what_was_sent_then_is_due_now(self, queued):
        part = a_part(queued_at=timezone.now() + timedelta(hours=1, seconds=-300))
        factories.WorkerFactory(slots=2, seen_at=timezone.now())
        assert recovery.sweep() == 0

        recovery.move_due_times(timedelta(hours=1))

        assert recovery.sweep() == 1
        assert queued == [part.pk]

    def test_a_wait_that_was_asked_for_is_as_long_as_before(self):
        part = a_part(queued_at=timezone.now() + timedelta(hours=1, minutes=4))
        recovery.move_due_times(timedelta(hours=1))
        part.refresh_from_db()
        assert timedelta(minutes=3) < part.queued_at - timezone.now() < timedelta(minutes=5)

    def test_who_was_seen_then_is_not_alive_for_an_hour(self, queued, settings):
        gone = factories.WorkerFactory(seen_at=timezone.now() + timedelta(hours=1))
        part = a_part(worker=gone)
        recovery.move_due_times(timedelta(hours=1))
        assert recovery.sweep() == 0  # who lives has a round to say so
        settings.WORKER_GONE_SECONDS = 0
        assert recovery.sweep() == 1
        assert queued == [part.pk]


def ended(**changed):
    """A worker on this machine whose process has ended, seen just now."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    _, started = processes.status(process.pid)
    process.wait()
    given = {"machine": processes.machine(), "pid": process.pid, "started": started, **changed}
    return factories.WorkerFactory(**given)


class TestPredecessors:
    def test_what_a_killed_process_of_this_machine_held_is_handed_out_at_once(self, queued):
        part, waiting = a_part(worker=ended()), a_part(queued_at=timezone.now())
        factories.WorkerFactory(slots=2)

        assert recovery.take_over() == 2

        part.refresh_from_db()
        assert part.worker is None
        assert queued == [part.pk, waiting.pk]

    def test_the_sweep_sees_it_too(self, queued):
        part = a_part(worker=ended())

        assert recovery.sweep() == 1
        assert queued == [part.pk]

    def test_its_seats_are_free_at_once(self):
        judge, me = factories.JudgeFactory(provider="scripted"), factories.WorkerFactory()
        request_pool.take(ended(), judge, 4)
        assert request_pool.take(me, judge, 4) == 0

        recovery.take_over()

        assert request_pool.take(me, judge, 4) == 4

    @pytest.mark.parametrize("changed", [{"machine": ""}, {"machine": "another"}])
    def test_one_of_another_machine_may_live(self, queued, changed):
        a_part(worker=ended(**changed))

        assert recovery.take_over() == recovery.sweep() == 0

    def test_another_worker_that_lives_on_this_machine_keeps_what_it_holds(self, queued):
        part = a_part(worker=heartbeat.register(Worker, slots=1))

        assert recovery.take_over() == recovery.sweep() == 0

        part.refresh_from_db()
        assert part.worker

    def test_a_clock_that_was_set_back_is_seen_to_first(self, queued):
        later = timezone.now() + timedelta(hours=1)
        worker = ended(seen_at=later)

        recovery.take_over()

        worker.refresh_from_db()
        assert worker.seen_at == later


def test_a_part_of_which_something_was_saved_is_not_given_up_after_many_kills():
    worker = factories.WorkerFactory()
    part = a_part(queued_at=timezone.now())
    for _ in range(2 * leases.MOST_ATTEMPTS):
        held = leases.claim(part.pk, worker)
        assert held
        leases.progressed(held, worker)
        leases.MODEL.objects.filter(pk=part.pk).update(worker=None)
