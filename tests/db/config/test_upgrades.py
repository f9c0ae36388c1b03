"""Databases that earlier versions of main left behind: each is upgraded with its data, or refused in a sentence.

`scripts/store_state.py` makes what lies in `states/`. On PostgreSQL the tables are made by the migrations that the
stored database names, and its rows are copied into them.
"""

from __future__ import annotations

import json
import lzma
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from pytest_django import DjangoDbBlocker

from config import readiness
from core import schema_state
from judging.runs.models.runs import JudgeRun
from scripts import store_state

FOLDER = Path(__file__).parent / "states"
STATES = sorted(path.name.removesuffix(".sql.xz") for path in FOLDER.glob("*.sql.xz"))
REFUSED = ["01-loop", "02-trust"]
"""Older than the squashed migrations. From the third on, every state is upgraded."""
UPGRADED = [name for name in STATES if name not in REFUSED]
OURS = ("annotation_", "judging_", "simulation_")

Rows = list[tuple[Any, ...]]
Upgraded = dict[str, tuple[dict[str, int], BaseDatabaseWrapper]]


@contextmanager
def opened(state: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as stored:
        stored.executescript(lzma.decompress((FOLDER / f"{state}.sql.xz").read_bytes()).decode())
        yield stored


def tables_of(stored: sqlite3.Connection) -> list[str]:
    return [name for (name,) in stored.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def count(stored: sqlite3.Connection) -> dict[str, int]:
    ours = [name for name in tables_of(stored) if name.startswith(OURS)]
    return {name: stored.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in ours}


def history_of(stored: sqlite3.Connection) -> list[tuple[str, str]]:
    return stored.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()


@pytest.fixture
def empty_site(django_db_blocker: DjangoDbBlocker, django_db_setup: None, tmp_path: Path) -> Iterator[Path]:
    """A database of its own under Django's connection, without any table."""
    name = connection.settings_dict["NAME"]
    other = tmp_path / "site.sqlite3" if connection.vendor == "sqlite" else f"{name}_upgrade"
    with django_db_blocker.unblock():
        run_beside(f'DROP DATABASE IF EXISTS "{other}"', f'CREATE DATABASE "{other}"')
        switch(other)
        try:
            yield Path(other)
        finally:
            switch(name)
            run_beside(f'DROP DATABASE "{other}"')


def run_beside(*statements: str) -> None:
    """On PostgreSQL, where a database is made by a statement."""
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def switch(name: object) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def put(state: str, site: Path) -> dict[str, int]:
    """The stored database under Django's connection; how many rows each of its tables has."""
    with opened(state) as stored:
        if connection.vendor == "sqlite":
            with closing(sqlite3.connect(site)) as file:
                stored.backup(file)
        else:
            copy_to_server(stored, state)
        return count(stored)


def copy_to_server(stored: sqlite3.Connection, state: str) -> None:
    MigrationRecorder(connection).ensure_schema()
    if state in REFUSED:  # the migrations that would make its other tables are gone
        copy_rows(stored, ["django_migrations"])
        return
    executor = MigrationExecutor(connection)
    newest = {
        app: (app, name) for app, name in sorted(history_of(stored)) if (app, name) in executor.loader.graph.nodes
    }
    executor.migrate(list(newest.values()))
    copy_rows(stored, [name for name in tables_of(stored) if name in connection.introspection.table_names()])


def copy_rows(stored: sqlite3.Connection, tables: list[str]) -> None:
    """Every value goes as text, which PostgreSQL reads as the column's type."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        for table in tables:
            cursor.execute(f'SELECT 1 FROM "{table}" LIMIT 1')
            if cursor.fetchone():
                cursor.execute(f'DELETE FROM "{table}"')
            rows = stored.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in rows.description]
            columns = ", ".join(f'"{name}"' for name in names)
            places = ", ".join(["%s"] * len(names))
            texts = [[None if value is None else str(value) for value in row] for row in rows]
            cursor.executemany(f'INSERT INTO "{table}" ({columns}) VALUES ({places})', texts)
            if "id" in names and texts:
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('\"{table}\"', 'id'), max(id)) FROM \"{table}\"")
        cursor.execute("COMMIT")


def reported(study: str) -> dict[str, dict[str, float | None]]:
    """Each criterion's counts and coefficients, as they are stored."""
    said = StringIO()
    call_command("agreement", study=study, bootstrap=0, json=True, stdout=said)
    return store_state.figures_of(json.loads(said.getvalue()))


class Behind:
    """A stored database under a connection of its own, and the migrations that it lacks."""

    def __init__(self, connected: BaseDatabaseWrapper) -> None:
        self.connected = connected
        with turned_to(connected):
            self.executor = MigrationExecutor(connected)
        self.leaves = self.executor.loader.graph.leaf_nodes()
        self.lacks = {migration for migration, _ in self.executor.migration_plan(self.leaves)}

    def apply(self, migration: Migration, states: list[ProjectState]) -> None:
        with turned_to(self.connected):
            with self.connected.schema_editor(atomic=migration.atomic) as editor:
                for operation, (old, new) in zip(migration.operations, pairwise(states), strict=True):
                    operation.database_forwards(migration.app_label, editor, old, new)
            self.executor.record_migration(migration)


def upgrade_together(behind: list[Behind]) -> None:
    """Migrate all databases at once, as `migrate` does one: of an upgrade, nine tenths are models between migrations.

    Those are worked out once. `connections` gives the data migrations the database whose turn it is.
    """
    first = behind[0]
    state = first.executor._create_project_state()
    for migration, _ in first.executor.migration_plan(first.leaves, clean_start=True):
        states = [state]
        for operation in migration.operations:
            state = state.clone()
            operation.state_forwards(migration.app_label, state)
            states.append(state)
        for one in behind:
            if migration in one.lacks:
                one.apply(migration, states)
    for one in behind:
        with turned_to(one.connected):
            emit_post_migrate_signal(verbosity=0, interactive=False, db="default", apps=state.apps, plan=[])


@contextmanager
def turned_to(connected: BaseDatabaseWrapper) -> Iterator[None]:
    """Django's connection is this one."""
    given = connections["default"]
    connections["default"] = connected
    try:
        yield
    finally:
        connections["default"] = given


@pytest.fixture(scope="module")
def all_upgraded(
    django_db_blocker: DjangoDbBlocker, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Upgraded:
    folder, found = tmp_path_factory.mktemp("upgraded"), {}
    with django_db_blocker.unblock():
        for state in UPGRADED:
            site, connected = folder / f"{state}.sqlite3", connection.copy()
            connected.settings_dict["NAME"] = site
            found[state] = put(state, site), connected
        upgrade_together([Behind(connected) for _, connected in found.values()])
    return found


@pytest.fixture
def upgraded(state: str, all_upgraded: Upgraded, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, int]]:
    """How many rows each table of the state had; Django's connection is that of the upgraded database."""
    before, connected = all_upgraded[state]
    with django_db_blocker.unblock(), turned_to(connected):
        yield before


@pytest.mark.skipif(connection.vendor != "sqlite", reason="on a server the oldest alone goes through all migrations")
@pytest.mark.long
@pytest.mark.xdist_group("upgrades")
@pytest.mark.timeout(900)  # the first one waits until all states are upgraded together
@pytest.mark.parametrize("state", UPGRADED)
def test_an_earlier_database_is_upgraded_with_all_that_it_holds(state, upgraded):
    check(state, upgraded)


def check(state: str, before: dict[str, int]) -> None:
    assert before["annotation_annotation"] > 40
    assert schema_state.describe_gap() == ""
    with connection.cursor() as cursor:
        for table, rows in before.items():
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            added = cursor.fetchone()[0] - rows
            assert (table, added) in {(table, 0), ("annotation_act", 1)}, "that the log is keyed from here on is an act"
    call_command("check_invariants", stdout=StringIO())
    for study, expected in json.loads((FOLDER / f"{state}.json").read_text()).items():
        assert reported(study) == {key: pytest.approx(figures) for key, figures in expected.items()}


@pytest.mark.long
def test_the_command_upgrades_the_oldest_whose_runs_on_parts_keep_what_they_rated(empty_site):
    """It goes through all later migrations, also on a server."""
    before = put(UPGRADED[0], empty_site)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE judging_judgerun SET every_turn = true")
        cursor.execute(
            "UPDATE judging_judgerun SET study_id = (SELECT min(id) FROM annotation_study WHERE kind = 'pair') "
            "WHERE id = (SELECT max(id) FROM judging_judgerun)"
        )
    call_command("migrate", verbosity=0)
    rated = set(JudgeRun.objects.values_list("study__kind", "unit"))
    assert rated == {("dialogue", "turn"), ("pair", "response")}
    check(UPGRADED[0], before)


@pytest.mark.parametrize("state", REFUSED)
def test_a_database_whose_migrations_are_gone_is_refused_in_a_sentence(state, empty_site):
    put(state, empty_site)
    for command in (["migrate"], ["migrate", "--check"], ["agreement", "--study", "Demo pairs"]):
        with pytest.raises(CommandError, match=f"Upgrade it through commit {schema_state.LAST_WITH_ALL} first"):
            call_command(*command, verbosity=0)
    assert readiness.schema_problem() == schema_state.TOO_OLD


def test_other_gaps_in_the_migrations_are_not_taken_for_an_old_database(db):
    assert not schema_state.is_too_old()


def test_every_migration_is_in_a_stored_database():
    """So that the next version is tested on what this one leaves behind."""
    with opened(STATES[-1]) as newest:
        stored = set(history_of(newest))
    loader = MigrationLoader(None)
    missing = [
        key for key in loader.disk_migrations if key[0] in ("annotation", "judging", "simulation") and key not in stored
    ]
    assert not missing, (
        f"run `python scripts/store_state.py {len(STATES) + 1:02}-WORD`: no stored database has {missing}"
    )
