"""`migrate`: Django's own, with each migration applied and recorded in one transaction.

Django records a migration after it has committed it, and one that replaces others with a statement for each of these. A
process killed in between leaves a schema that the next `migrate` does not know about, and ends on.
"""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import transaction
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor


class WholeExecutor(MigrationExecutor):
    """Apply and record a migration together, unless it says that it is not atomic."""

    def apply_migration(self, state: Any, migration: Migration, *args: Any, **options: Any) -> Any:
        if not migration.atomic:
            return super().apply_migration(state, migration, *args, **options)
        # SQLite alters tables without looking at references, which has to be so before a transaction begins
        with self.connection.constraint_checks_disabled(), transaction.atomic(self.connection.alias):
            return super().apply_migration(state, migration, *args, **options)

    def record_migration(self, migration: Migration) -> None:
        with transaction.atomic(self.connection.alias):
            super().record_migration(migration)


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        migrate.MigrationExecutor = WholeExecutor  # type: ignore[attr-defined]  # Django has no other place for it
        super().handle(*args, **options)
