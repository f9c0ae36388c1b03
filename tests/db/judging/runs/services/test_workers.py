from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.studies.services import studies
from core.jobs import heartbeat
from judging import tasks
from judging.judges.models import Worker
from judging.judges.queries.workers import alive
from tests.support import factories
from tests.support.site import wait_until


@pytest.mark.django_db
class TestAlive:
    def test_a_worker_seen_lately_is_alive(self):
        worker = factories.WorkerFactory(slots=2)
        factories.WorkerFactory(slots=2, seen_at=timezone.now() - timedelta(minutes=5))

        assert list(alive()) == [worker]

    def test_a_process_that_takes_nothing_from_the_queue_is_no_worker(self):
        with heartbeat.beating(Worker) as worker:
            assert worker.slots == 0
            assert not alive().exists()
        assert not Worker.objects.exists()

    def test_a_row_that_was_tidied_away_is_made_again(self):
        worker = heartbeat.register(Worker, slots=3)
        Worker.objects.all().delete()

        heartbeat.report(worker)

        assert list(alive().values_list("pk", "name", "slots")) == [(worker.pk, worker.name, 3)]


@pytest.mark.django_db(transaction=True)
def test_a_heart_reports_from_its_own_thread(settings):
    settings.WORKER_BEAT_SECONDS = 0.05
    with heartbeat.beating(Worker, slots=1) as worker:
        before = Worker.objects.get(pk=worker.pk).seen_at
        wait_until(lambda: Worker.objects.get(pk=worker.pk).seen_at > before)
        assert Worker.objects.get(pk=worker.pk).seen_at > before


class TestHeart:
    @pytest.fixture(autouse=True)
    def quick(self, settings, monkeypatch):
        settings.WORKER_BEAT_SECONDS, settings.WORKER_GONE_SECONDS = 0.01, 0.2
        self.reports, self.rounds = [], []
        monkeypatch.setattr(heartbeat, "report", self.report)
        self.worker = Worker(name="bob", slots=1)

    def report(self, worker):
        self.reports.append(worker.name)
        if len(self.reports) == 1:
            raise OperationalError("database is locked")

    def beat_until(self, there, **options):
        heart = heartbeat.Heartbeat(self.worker, **options)
        heart.start()
        try:
            wait_until(there)
        finally:
            heart.end()
        assert not heart.is_alive()

    def test_a_locked_database_does_not_end_it(self, caplog):
        self.beat_until(lambda: len(self.reports) >= 3)

        assert "trying again" in caplog.text

    def test_it_looks_after_lost_work_too(self):
        self.beat_until(lambda: len(self.rounds) >= 2, also=lambda: self.rounds.append(1))

        assert self.reports, "besides reporting itself"

    def test_after_a_stall_others_may_report_first(self):
        heart = heartbeat.Heartbeat(self.worker, also=lambda: self.rounds.append(1))
        self.reports.append("earlier")

        heart.last -= 10
        heart.beat()
        assert self.rounds == []

        heart.beat()
        assert self.rounds == [1]


@pytest.mark.django_db
def test_celery_s_signals_begin_and_end_the_reports():
    class Consumer:
        class controller:  # noqa: N801 — as Celery names it
            concurrency = 2

    tasks.begin(sender=Consumer)
    assert list(alive().values_list("slots", flat=True)) == [2]

    tasks.end()
    assert not Worker.objects.exists()
    assert tasks.hearts == []


def test_a_heart_tells_by_how_much_the_clock_was_set_back(db, monkeypatch):
    now, told = [10_000.0], []
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromtimestamp(now[0], tz=UTC))
    with heartbeat.beating(Worker) as worker:
        heart = heartbeat.Heartbeat(worker, set_back=told.append)
        for step in (2.0, -30.0, 2.0, -3600.0, 2.0):
            now[0] += step
            heart.beat()
    assert [one.total_seconds() for one in told] == [3600.0]


@pytest.mark.parametrize(("seconds", "noticed"), [(3600, True), (30, False), (-3600, False)])
def test_a_clock_that_was_set_back_while_nobody_was_there_is_noticed_at_the_start(db, seconds, noticed):
    factories.WorkerFactory(seen_at=timezone.now() + timedelta(seconds=seconds))
    told = []
    heart = heartbeat.Heartbeat(
        heartbeat.register(Worker, slots=1), set_back=told.append, before=heartbeat.set_back_before(Worker)
    )
    heart.beat()
    heart.beat()
    assert [round(one.total_seconds()) for one in told] == ([seconds] if noticed else [])


def test_an_act_that_is_to_come_tells_it_too(db):
    assert heartbeat.clock_was_ahead(Worker) == timedelta()
    study = factories.StudyFactory(state="open")
    with patch.object(timezone, "now", return_value=timezone.now() + timedelta(hours=2)):
        studies.close(by=factories.ResearcherFactory(), study=study)
    assert timedelta(hours=1, minutes=59) < heartbeat.clock_was_ahead(Worker) < timedelta(hours=2)


def test_a_worker_that_starts_while_the_database_is_away_is_there_once_it_is_back(db, monkeypatch):
    def refuse(self, *args, **options):
        raise OperationalError("connection refused")

    with monkeypatch.context() as away:
        away.setattr(Worker, "save", refuse)
        worker = heartbeat.register_soon(Worker, slots=2)
    assert not Worker.objects.exists()

    swept = []
    heartbeat.Heartbeat(worker, also=lambda: swept.append(1)).beat()

    assert Worker.objects.get(pk=worker.pk).slots == 2
    assert swept == [1]
