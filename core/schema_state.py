"""How far the database's tables are behind this version."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.exceptions import NodeNotFoundError
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_WITH_ALL = "f0442f8"
"""The last commit that has the migrations which the squashed ones replace."""

TOO_OLD = (
    f"This database is older than the oldest that this version can upgrade. Upgrade it through commit {LAST_WITH_ALL} "
    f"first: `git checkout {LAST_WITH_ALL}`, `make setup`, `manage.py migrate`. Then come back to this version."
)


def describe_gap() -> str:
    """What has to be done before this version can work on the database; empty if nothing."""
    try:
        executor = MigrationExecutor(connection)
    except NodeNotFoundError:
        if not is_too_old():
            raise
        return TOO_OLD
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    count = "1 migration is" if len(plan) == 1 else f"{len(plan)} migrations are"
    return f"{count} not applied: run manage.py migrate." if plan else ""


def is_too_old() -> bool:
    """Whether only some of the migrations that a squashed one replaces were applied: the rest is not there any more."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    applied = set(MigrationRecorder(connection).applied_migrations())
    replaced = [set(migration.replaces) for migration in (loader.disk_migrations or {}).values()]
    return any(keys & applied and not keys <= applied for keys in replaced)
