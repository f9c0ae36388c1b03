"""A migration is applied and recorded together: a process killed in between leaves nothing half done."""

from __future__ import annotations

import pytest
from django.core.management import get_commands
from django.db import connection, migrations
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from config.management.commands.migrate import WholeExecutor

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(Exception):
    pass


@pytest.fixture
def executor(monkeypatch):
    """Ends while it records: after the first of several names, or at the only one."""
    executor, recorded = WholeExecutor(connection), []

    def record(app, name):
        if recorded or name == "0001_only":
            raise KilledError
        recorded.append(name)
        MigrationRecorder.record_applied(executor.recorder, app, name)

    monkeypatch.setattr(executor.recorder, "record_applied", record)
    return executor


def test_what_could_not_be_recorded_is_not_there(executor):
    migration = migrations.Migration("0001_only", "killed")
    migration.operations = [migrations.RunSQL("CREATE TABLE killed_table (id integer)")]

    with pytest.raises(KilledError):
        executor.apply_migration(ProjectState(), migration)

    assert "killed_table" not in connection.introspection.table_names()


def test_one_that_replaces_others_is_recorded_as_all_of_them_or_none(executor):
    migration = migrations.Migration("0001_squashed", "killed")
    migration.replaces = [("killed", "0001_a"), ("killed", "0002_b")]

    with pytest.raises(KilledError):
        executor.record_migration(migration)

    assert not MigrationRecorder.Migration.objects.filter(app="killed").exists()


def test_it_is_what_the_command_does():
    assert get_commands()["migrate"] == "config"
