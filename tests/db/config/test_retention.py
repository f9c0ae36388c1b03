"""What is over its period is told, and deleted only when asked; all else stays."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.recruitment.models import DemographicAnswer, DemographicQuestion
from annotation.studies.models.labels import Draft
from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from config import checks, retention
from core.accounts.models.projects import choose_project
from core.accounts.models.tokens import IdempotentWrite
from core.audit.models import Act
from core.errors import InputError
from core.files.staging import find_staged, find_staging_folder, remove_staged, stage
from judging.judges.models import CachedReply
from tests.support.factories import AssignmentFactory, ItemFactory, ResearcherFactory, StudyFactory, UserFactory

NOW = timezone.now()
OLD, NEW = NOW - timedelta(days=400), NOW - timedelta(hours=2)


def dated(row, **moments) -> None:
    type(row).objects.filter(pk=row.pk).update(**moments)


@pytest.fixture
def site(db) -> None:
    """Of every kind one that is old and one that is new; and what looks like it and stays."""
    rosa, anna = ResearcherFactory(username="rosa"), UserFactory(username="anna")
    hook = Webhook.objects.create(project=choose_project(None), url="https://x.example", nonce="n", created_by=rosa)
    closed, going_on = StudyFactory(state="closed"), StudyFactory(state="open")
    for name, moment in (("old", OLD), ("new", NEW)):
        Session.objects.create(session_key=name, session_data="", expire_date=moment)
        dated(IdempotentWrite.objects.create(user=anna, key=name, request_hash=""), created_at=moment)
        sent = WebhookDelivery.objects.create(webhook=hook, event="ping", subject=name, body="{}")
        dated(sent, created_at=moment)
        dated(CachedReply.objects.create(key=name, provider="p", reply={}), created_at=moment)
        for study in (closed, going_on):
            slot = AssignmentFactory(item=ItemFactory(study=study))
            Draft.objects.create(assignment=slot, annotator=anna, saved_at=moment)
        late = AssignmentFactory(item=ItemFactory(study=closed))
        Draft.objects.create(assignment=late, annotator=anna, state="late", late_reason="closed", saved_at=moment)
    waiting = WebhookDelivery.objects.create(webhook=hook, event="ping", subject="waiting", body="{}", due_at=NOW)
    dated(waiting, created_at=OLD)
    Session.objects.create(session_key="alive", session_data="", expire_date=NOW + timedelta(days=1))


def told(*arguments: str, capsys) -> dict[str, dict]:
    capsys.readouterr()
    call_command("retention", "--json", *arguments)
    return {one["kind"]: one for one in json.loads(capsys.readouterr().out)["kinds"]}


def test_without_do_it_says_what_would_go_and_changes_nothing(site, capsys):
    counts = {kind: one["over"] for kind, one in told(capsys=capsys).items()}
    assert counts["sessions"] == 2
    assert (counts["idempotency"], counts["deliveries"], counts["drafts"]) == (1, 1, 1)
    assert (counts["late_answers"], counts["demographics"], counts["replies"]) == (0, 0, 0)
    assert (Session.objects.count(), IdempotentWrite.objects.count(), Draft.objects.count()) == (3, 2, 6)
    assert not Act.objects.exists()


def test_with_do_what_is_over_goes_and_all_else_stays(site, capsys):
    assert told("--do", capsys=capsys)["sessions"]["deleted"] == 2
    assert list(Session.objects.values_list("session_key", flat=True)) == ["alive"]
    assert list(IdempotentWrite.objects.values_list("key", flat=True)) == ["new"]
    assert set(WebhookDelivery.objects.values_list("subject", flat=True)) == {"new", "waiting"}
    assert CachedReply.objects.count() == 2
    assert Draft.objects.filter(state="draft", assignment__study__state="closed").count() == 1
    assert Draft.objects.filter(state="draft", assignment__study__state="open").count() == 2
    assert Draft.objects.filter(state="late").count() == 2, "a researcher decides on these"
    assert set(Act.objects.values_list("verb", flat=True)) == {"retention.delete"}
    assert {row.parsed_arguments["key"]: row.parsed_outcome for row in Act.objects.all()}["drafts"] == 1
    assert not any(one["over"] for one in told(capsys=capsys).values())


def test_replies_and_decided_answers_go_where_a_period_is_set(site, capsys, monkeypatch):
    monkeypatch.setenv("CONCORD_KEEP_REPLIES_DAYS", "30")
    monkeypatch.setenv("CONCORD_KEEP_LATE_ANSWERS_DAYS", "30")
    monkeypatch.setenv("CONCORD_KEEP_SESSIONS_DAYS", "always")
    rosa = ResearcherFactory()
    for late, moment in zip(Draft.objects.filter(state="late").order_by("pk"), (OLD, NEW), strict=True):
        dated(late, state="dismissed", decided_by=rosa, decided_at=moment)
    done = told("--do", capsys=capsys)
    assert (done["replies"]["deleted"], done["late_answers"]["deleted"], done["sessions"]["deleted"]) == (1, 1, 0)
    assert CachedReply.objects.get().key == "new"


def test_what_people_said_of_themselves_goes_after_the_end_of_their_study(db, monkeypatch):
    monkeypatch.setenv("CONCORD_KEEP_DEMOGRAPHICS_DAYS", "30")
    kind = next(one for one in retention.KINDS if one.key == "demographics")
    ended, lately, going_on = StudyFactory(state="closed"), StudyFactory(state="closed"), StudyFactory(state="open")
    for study in (ended, lately, going_on):
        question = DemographicQuestion.objects.create(study=study, key="age", text="Age?", options=["young"])
        dated(
            DemographicAnswer.objects.create(question=question, annotator=UserFactory(), value="young"), answered_at=OLD
        )
    for study, moment in ((ended, OLD), (lately, NEW)):
        dated(AssignmentFactory(item=ItemFactory(study=study), submitted=True), submitted_at=moment)
    assert retention.delete(by=None, kind=kind) == 1
    assert set(DemographicAnswer.objects.values_list("question__study", flat=True)) == {lately.pk, going_on.pk}


def test_files_of_bad_records(db, capsys):
    folder = Path(settings.DATA_DIR) / "import-errors"
    folder.mkdir(exist_ok=True)
    for name, moment in (("old.errors.jsonl", OLD), ("new.errors.jsonl", NEW)):
        (folder / name).write_text("{}")
        os.utime(folder / name, (moment.timestamp(), moment.timestamp()))
    assert told("--do", capsys=capsys)["import_errors"]["deleted"] == 1
    assert not (folder / "old.errors.jsonl").exists()
    (folder / "new.errors.jsonl").unlink()


def test_files_that_wait_to_be_imported_go_after_a_day(db, capsys):
    keys = [stage([b"id,prompt\n"], name="a.csv", owner=1) for _ in range(2)]
    for path in find_staging_folder().glob(f"{keys[0]}*"):
        os.utime(path, (OLD.timestamp(), OLD.timestamp()))
    assert told("--do", capsys=capsys)["import_files"]["deleted"] == 2
    assert find_staged(keys[0], owner=1) is None
    assert find_staged(keys[1], owner=1).name == "a.csv"
    remove_staged(keys[1])
    assert find_staged(keys[1], owner=1) is None


@pytest.mark.parametrize("text", ["-1", "soon", "1.5", "99999999", "²"])
def test_a_period_that_is_none_is_refused_by_name(db, monkeypatch, text: str):
    monkeypatch.setenv("CONCORD_KEEP_DRAFTS_DAYS", text)
    with pytest.raises(InputError, match="CONCORD_KEEP_DRAFTS_DAYS"):
        retention.due()
    assert [one.id for one in checks.periods_are_periods()] == ["concord.E009"]
    with pytest.raises(CommandError):
        call_command("retention", "--do")


def test_the_page_shows_what_would_go(site, client):
    client.force_login(ResearcherFactory())
    page = client.get("/system/").content.decode()
    assert "CONCORD_KEEP_DEMOGRAPHICS_DAYS" in page
    assert "always" in page
