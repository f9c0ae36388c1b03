"""Django's `migrate`, one process at a time. All that migrates goes through it: `demo`, `serve`, units, containers.

Each migration is applied and recorded in one transaction. Django records it after it has committed it, and one that
replaces others with a statement for each of these: a process killed in between would leave a schema that the next
`migrate` does not know about, and ends on.
"""

from __future__ import annotations

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import transaction
from django.db.migrations import Migration
from django.db.migrations.exceptions import NodeNotFoundError
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

from config.turns import take_turn
from core import schema_state


class WholeExecutor(MigrationExecutor):
    """Apply and record a migration together, unless it says that it is not atomic."""

    def apply_migration(self, state: ProjectState, migration: Migration, *args: bool, **options: bool) -> ProjectState:
        if not migration.atomic:
            return super().apply_migration(state, migration, *args, **options)
        # SQLite alters tables without looking at references, which has to be so before a transaction begins
        with self.connection.constraint_checks_disabled(), transaction.atomic(self.connection.alias):
            return super().apply_migration(state, migration, *args, **options)

    def record_migration(self, migration: Migration) -> None:
        with transaction.atomic(self.connection.alias):
            super().record_migration(migration)


class Command(migrate.Command):
    def handle(self, *args: object, **options: object) -> None:
        migrate.MigrationExecutor = WholeExecutor  # type: ignore[attr-defined]  # Django has no other place for it
        try:
            if options["plan"] or options["check_unapplied"]:  # these change nothing
                super().handle(*args, **options)
                return
            with take_turn("migrate", self.stderr):
                super().handle(*args, **options)
        except NodeNotFoundError as error:
            if not schema_state.is_too_old():
                raise
            raise CommandError(schema_state.TOO_OLD) from error
