"""Health, readiness, metrics, the system page, logs that carry the request, and the policy of contents."""

from __future__ import annotations

import io
import json
import logging
import logging.config
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment.services import enrolment
from config import checks, readiness
from config.logs import build_logging
from tests.support.factories import (
    ExperimentFactory,
    JudgeChunkFactory,
    JudgeRunFactory,
    ResearcherFactory,
    StudyFactory,
    UserFactory,
    WorkerFactory,
)


@pytest.fixture
def rosa(db, client):
    client.force_login(ResearcherFactory())
    return client


class TestReadiness:
    def test_a_site_with_all_it_needs_is_ready(self, client, db):
        reply = client.get(reverse("ready"))
        assert reply.status_code == 200
        assert reply.json()["checks"] == dict.fromkeys(("database", "migrations", "broker", "disk"), "ok")

    def test_what_is_missing_is_said_and_the_answer_is_503(self, client, db, monkeypatch):
        monkeypatch.setattr(readiness, "LEAST_FREE", 1 << 62)
        reply = client.get(reverse("ready"))
        assert reply.status_code == 503
        assert "MB are free" in reply.json()["checks"]["disk"]
        assert reply.json()["status"] == "not ready"

    def test_a_broker_that_does_not_answer_is_named(self, monkeypatch):
        from celery import Celery

        monkeypatch.delenv("CELERY_BROKER_URL", raising=False)  # it stands above what a Celery application is told
        away = Celery(broker="redis://127.0.0.1:1/0", set_as_current=False)
        monkeypatch.setattr(readiness, "current_app", away)
        assert "The broker does not answer" in readiness.broker()


class TestMetrics:
    def test_they_are_for_researchers_and_for_the_token(self, client, db, settings):
        address = reverse("metrics")
        assert client.get(address).status_code == 403
        assert client.get(address, headers={"authorization": "Bearer "}).status_code == 403
        settings.METRICS_TOKEN = "s3cret"
        assert client.get(address, headers={"authorization": "Bearer wrong"}).status_code == 403
        assert client.get(address, headers={"authorization": "Bearer s3cret"}).status_code == 200
        client.force_login(UserFactory())
        assert client.get(address).status_code == 403

    def test_they_count_what_waits_and_who_works(self, rosa):
        now = timezone.now()
        run = JudgeRunFactory()
        alive = WorkerFactory(slots=3, seen_at=now)
        WorkerFactory(slots=5, seen_at=now - timedelta(days=1))
        JudgeChunkFactory(run=run, index=1, queued_at=now - timedelta(seconds=90))
        JudgeChunkFactory(run=run, index=2, worker=alive)
        JudgeChunkFactory(run=run, index=3, queued_at=now + timedelta(hours=1))
        JudgeChunkFactory(run=run, index=4, finished_at=now)
        ExperimentFactory(stopped_at=now)
        text = rosa.get(reverse("metrics")).content.decode()
        for line in (
            'concord_run_parts{state="waiting"} 1.0',
            'concord_run_parts{state="held"} 1.0',
            'concord_run_parts{state="later"} 1.0',
            "concord_workers 1.0",
            "concord_worker_slots 3.0",
            'concord_runs{state="running"} 1.0',
            'concord_experiments{state="stopped"} 1.0',
            'concord_service_up{service="database"} 1.0',
        ):
            assert line in text.splitlines()
        oldest = next(row for row in text.splitlines() if row.startswith("concord_run_part_oldest_seconds "))
        assert 90 <= float(oldest.split()[1]) < 900


class TestSystemPage:
    def test_it_says_which_runs_need_somebody(self, rosa, django_assert_max_num_queries):
        for n in range(3):
            JudgeChunkFactory(run=JudgeRunFactory(), index=n, finished_at=timezone.now(), error="the service was away")
        ExperimentFactory(stopped_at=timezone.now(), stop_reason="The budget is used up.")
        with django_assert_max_num_queries(16):
            html = rosa.get(reverse("system")).content.decode()
        assert html.count("1 part ended early") == 3
        assert "The budget is used up." in html
        assert "No process is at work" in html

    def test_it_is_for_researchers(self, client, db):
        client.force_login(UserFactory())
        assert client.get(reverse("system")).status_code == 403


class TestLogs:
    @pytest.fixture
    def stream(self):
        """What is logged as JSON; the settings of the tests are put back."""
        out = io.StringIO()
        made = logging.config.DictConfigurator(described := build_logging("json", "INFO"))
        handler = logging.StreamHandler(out)
        handler.setFormatter(made.configure_formatter(described["formatters"]["json"]))
        for name in described["handlers"]["stderr"]["filters"]:
            handler.addFilter(made.configure_filter(described["filters"][name]))
        loggers = [logging.getLogger(name) for name in ("concord.tests", "django")]
        for logger in loggers:
            logger.addHandler(handler)
        loggers[0].setLevel("INFO")
        yield out
        for logger in loggers:
            logger.removeHandler(handler)

    def test_a_line_of_json_carries_the_request(self, stream):
        from django_guid import clear_guid, set_guid

        set_guid("a" * 32)
        logging.getLogger("concord.tests").info("said %s", "once")
        clear_guid()
        line = json.loads(stream.getvalue())
        assert line["request_id"] == "a" * 32
        assert (line["message"], line["level"], line["logger"]) == ("said once", "INFO", "concord.tests")

    def test_a_refused_request_is_one_line(self, stream, client, db):
        client.force_login(UserFactory())
        assert client.get(reverse("system")).status_code == 403
        assert client.get("/", headers={"host": "evil.example"}).status_code == 400
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert [line["level"] for line in lines] == ["WARNING", "ERROR"]
        assert "Forbidden" in lines[0]["message"]
        assert "Traceback" not in stream.getvalue()

    def test_what_breaks_keeps_its_traceback(self, stream, monkeypatch, rosa):
        monkeypatch.setattr("config.pages.views.registry", lambda: 1 / 0)
        rosa.raise_request_exception = False
        assert rosa.get(reverse("metrics")).status_code == 500
        assert "ZeroDivisionError" in stream.getvalue()

    def test_no_token_of_an_invitation_is_logged(self, stream, db):
        study = StudyFactory(state="open")
        token = enrolment.create(by=None, study=study, platform="prolific").token
        client = Client(enforce_csrf_checks=True)
        assert client.get(reverse("join", args=[token])).status_code == 400
        assert client.post(reverse("join", args=[token])).status_code == 403
        assert client.get(f"/join/{token}/x").status_code == 404
        assert stream.getvalue().count("/join/(token)") == 3
        assert token not in stream.getvalue()

    def test_a_request_is_answered_with_its_id(self, client, db):
        given = "5d2f3a2e8c8f4d7e9a0b1c2d3e4f5a6b"
        assert client.get("/healthz", headers={"x-request-id": given}).headers["X-Request-ID"] == given
        made = client.get("/healthz", headers={"x-request-id": "x\nfake line"}).headers["X-Request-ID"]
        assert len(made) == 32

    def test_an_unknown_format_is_an_error_before_anything_runs(self, monkeypatch):
        monkeypatch.setenv("CONCORD_LOG_FORMAT", "xml")
        assert [found.id for found in checks.check_log_format()] == ["concord.E003"]


class TestPolicy:
    def test_scripts_and_styles_come_from_files_of_the_site_only(self, client, db):
        policy = client.get(reverse("login")).headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy

    def test_a_site_that_others_reach_needs_https_and_a_name(self, settings):
        settings.HTTPS, settings.ALLOWED_HOSTS = False, ["*"]
        assert {found.id for found in checks.names_are_given()} == {"concord.E004", "concord.E005"}
        settings.HTTPS, settings.ALLOWED_HOSTS = True, ["concord.example.org"]
        assert checks.names_are_given() == []
