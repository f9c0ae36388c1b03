"""What two processes must not do at once: the second waits, says for whom, and then finds the work done."""

from __future__ import annotations

import os
from contextlib import ExitStack
from io import StringIO

import pytest
from django.core.management import call_command, get_commands
from django.core.management.base import OutputWrapper
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config import demo, readiness, turns
from config.turns import take_turn


class Listener(StringIO):
    """What a process that waits says; hearing it, the one that it waits for is done."""

    def __init__(self, first: ExitStack) -> None:
        super().__init__()
        self.first = first

    def write(self, text: str) -> int:
        self.first.close()
        return super().write(text)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(turns, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(readiness, "POLL_SECONDS", 0.0)


@pytest.mark.parametrize(("task", "command"), [("migrate", "migrate"), ("demo", "demo")])
def test_the_second_waits_until_the_first_is_done_and_says_for_whom(db, monkeypatch, task, command):
    monkeypatch.setattr(demo, "load", lambda: None)
    with ExitStack() as first:
        first.enter_context(take_turn(task, OutputWrapper(StringIO())))
        heard = Listener(first)
        call_command(command, verbosity=0, stdout=StringIO(), stderr=heard)
    said = heard.getvalue()
    assert f"another process is done with `{task}` on this database" in said
    assert f"process {os.getpid()} on" in said
    assert said.count("Waiting") == 1


def test_nobody_waits_where_nobody_is(db):
    for _ in range(2):
        heard = StringIO()
        with take_turn("migrate", OutputWrapper(heard)), take_turn("demo", OutputWrapper(heard)):
            pass
        assert heard.getvalue() == ""


def test_who_fails_leaves_no_lock(db):
    heard = StringIO()
    with pytest.raises(ZeroDivisionError), take_turn("migrate", OutputWrapper(heard)):
        raise ZeroDivisionError
    with take_turn("migrate", OutputWrapper(heard)):
        assert heard.getvalue() == ""


def test_what_changes_nothing_does_not_wait(db):
    heard = StringIO()
    with take_turn("migrate", OutputWrapper(heard)):
        call_command("migrate", plan=True, stdout=StringIO(), stderr=heard)
    assert heard.getvalue() == ""


def test_every_command_that_migrates_takes_its_turn():
    assert get_commands()["migrate"] == "config"


def test_a_worker_waits_for_the_schema_and_says_so(db, monkeypatch, caplog):
    rows = MigrationRecorder(connection).migration_qs.filter(app="simulation")
    last = rows.latest("name")
    last.delete()
    monkeypatch.setattr(readiness.time, "sleep", lambda seconds: last.save())
    readiness.wait_for_schema()
    assert [record.getMessage() for record in caplog.records] == [
        "This worker waits for the database. 1 migration is not applied: run manage.py migrate.",
        "The database is ready; this worker starts.",
    ]


def test_a_worker_that_finds_the_schema_says_nothing(db, caplog):
    readiness.wait_for_schema()
    assert caplog.records == []
