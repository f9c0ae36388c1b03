"""The triggers by which the database refuses to change the audit log: made by migrations, looked for by the checker."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SQLITE = {
    "act_not_changed": """
        CREATE TRIGGER act_not_changed BEFORE UPDATE ON annotation_act
        BEGIN SELECT RAISE(ABORT, 'acts are never changed or deleted'); END
    """,
    "act_not_deleted": """
        CREATE TRIGGER act_not_deleted BEFORE DELETE ON annotation_act
        BEGIN SELECT RAISE(ABORT, 'acts are never changed or deleted'); END
    """,
    # INSERT OR REPLACE deletes the row that is in its way without asking the trigger above.
    "act_not_replaced": """
        CREATE TRIGGER act_not_replaced BEFORE INSERT ON annotation_act
        WHEN EXISTS (
            SELECT 1 FROM annotation_act
            WHERE number = NEW.number OR previous = NEW.previous OR digest = NEW.digest
        )
        BEGIN SELECT RAISE(ABORT, 'acts are never changed or deleted'); END
    """,
}

BODY = "BEGIN RAISE EXCEPTION 'acts are never changed or deleted' USING ERRCODE = 'integrity_constraint_violation'; END"
POSTGRESQL = {
    "act_not_changed": "BEFORE UPDATE OR DELETE ON annotation_act FOR EACH ROW",
    "act_not_emptied": "BEFORE TRUNCATE ON annotation_act FOR EACH STATEMENT",
}
EVENTS = {"act_not_changed": 1 | 2 | 8 | 16, "act_not_emptied": 2 | 32}
"""As `pg_trigger.tgtype` says it: each row 1, before 2, delete 8, update 16, truncate 32."""

WORKING = """
    SELECT tgname, tgtype FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE tgrelid = 'annotation_act'::regclass AND tgenabled IN ('O', 'A') AND tgqual IS NULL AND trim(prosrc) = %s
"""


def build_create_statements(vendor: str) -> list[str]:
    """Build the SQL that replaces the triggers."""
    if vendor == "sqlite":
        return [*(f"DROP TRIGGER IF EXISTS {name}" for name in SQLITE), *SQLITE.values()]
    function = f"CREATE OR REPLACE FUNCTION annotation_act_refuse() RETURNS trigger LANGUAGE plpgsql AS $${BODY}$$"
    return [
        function,
        *(f"DROP TRIGGER IF EXISTS {name} ON annotation_act" for name in POSTGRESQL),
        *(f"CREATE TRIGGER {name} {on} EXECUTE FUNCTION annotation_act_refuse()" for name, on in POSTGRESQL.items()),
    ]


def find_missing(connection: BaseDatabaseWrapper) -> list[str]:
    """The names of those that are gone, switched off, or do something else than they should."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'annotation_act'")
            wanted: Mapping[str, object] = {name: plain(text) for name, text in SQLITE.items()}
            there = {name: plain(text) for name, text in cursor.fetchall()}
        else:
            cursor.execute(WORKING, [BODY])
            wanted, there = EVENTS, dict(cursor.fetchall())
    return [name for name, text in wanted.items() if there.get(name) != text]


def plain(text: str) -> str:
    """SQL without its layout."""
    return " ".join(text.split())


FIND = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE %s"


class DroppedTriggers:
    """SQLite rebuilds a table for a constraint, and refuses to while a trigger of another table reads it.

    Two operations of a migration: `RunPython(triggers.drop, triggers.make)` first, and the reverse of it last.
    """

    def __init__(self, table: str) -> None:
        self.table = table
        self.found: list[tuple[str, str]] = []

    def drop(self, apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:  # noqa: ARG002
        if schema_editor.connection.vendor != "sqlite":
            return
        with schema_editor.connection.cursor() as cursor:
            self.found = cursor.execute(FIND, [f"%{self.table} %"]).fetchall()
            for name, _ in self.found:
                cursor.execute(f'DROP TRIGGER "{name}"')

    def make(self, apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:  # noqa: ARG002
        with schema_editor.connection.cursor() as cursor:
            for _, statement in self.found:
                cursor.execute(statement)
