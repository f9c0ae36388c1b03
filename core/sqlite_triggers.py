"""Triggers that are dropped while a migration rebuilds a table."""

from __future__ import annotations

from typing import Any

FIND = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE %s"


class DroppedTriggers:
    """SQLite rebuilds a table for a constraint, and refuses to while a trigger of another table reads it.

    Two operations of a migration: `RunPython(triggers.drop, triggers.make)` first, and the reverse of it last.
    """

    def __init__(self, table: str) -> None:
        self.table = table
        self.found: list[tuple[str, str]] = []

    def drop(self, apps: Any, schema_editor: Any) -> None:  # noqa: ARG002
        if schema_editor.connection.vendor != "sqlite":
            return
        with schema_editor.connection.cursor() as cursor:
            self.found = cursor.execute(FIND, [f"%{self.table} %"]).fetchall()
            for name, _ in self.found:
                cursor.execute(f'DROP TRIGGER "{name}"')

    def make(self, apps: Any, schema_editor: Any) -> None:  # noqa: ARG002
        with schema_editor.connection.cursor() as cursor:
            for _, statement in self.found:
                cursor.execute(statement)
