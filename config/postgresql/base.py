"""See the package. Django imports a backend's `base` by this name."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base, operations
from psycopg import Cursor


class PreparedCursor(Cursor[object]):
    """Has the server parse and plan each statement once, for as long as the connection lasts."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> PreparedCursor:
        super().execute(query, params, prepare=True, **options)
        return self


class DatabaseOperations(operations.DatabaseOperations):
    def last_executed_query(self, cursor: object, sql: str, params: object) -> str:
        """For logs. Parameters of a prepared statement go beside it: there is no text that holds them."""
        return super().last_executed_query(cursor, sql, params) or sql


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def is_usable(self) -> bool:
        """Whether a kept connection can be used: asked before the first statement of every request.

        A server that ends a connection, by a restart for example, says so, and its word waits in the socket. An idle
        connection with nothing to read is as it was left, so that only the other ones are asked by a statement.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN)
        return super().is_usable() if waiting.poll(0) else True

    def get_connection_params(self) -> dict[str, object]:
        """Only a PreparedCursor prepares anything: Django's own cursors put parameters into the text."""
        return {**super().get_connection_params(), "prepare_threshold": 0}

    def prepared_cursor(self) -> object:
        """As `cursor()`, for the few statements that are written out and run again and again."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            return self._prepare_cursor(PreparedCursor(self.connection))  # type: ignore[attr-defined]
