"""Which ids of a file were seen on which line. Kept on a disk, so that a file of any length needs little memory."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import NamedTuple, Self

PAGES_IN_MEMORY = "-16000"
"""As SQLite takes it: so many kilobytes."""


class Seen(NamedTuple):
    """Where an id was seen first, and a hash of what it was the id of."""

    line: int
    digest: str


class SeenIds:
    """The ids of one file: `with SeenIds() as seen: first = seen.find_or_add("a", 3, "…")`."""

    def __init__(self) -> None:
        self.database = sqlite3.connect("", isolation_level=None)  # without a name: a file of its own, gone when closed
        self.database.execute(f"PRAGMA cache_size = {PAGES_IN_MEMORY}")
        self.database.execute("PRAGMA journal_mode = OFF")
        self.database.execute("PRAGMA synchronous = OFF")
        self.database.execute("CREATE TABLE seen (id TEXT PRIMARY KEY, line INTEGER, digest TEXT) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.database.close()

    def find_or_add(self, identity: str, line: int, digest: str = "") -> Seen | None:
        """Where the id was seen before; None, and it is remembered, where it was not."""
        added = self.database.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (identity, line, digest))
        if added.rowcount:
            return None
        found = self.database.execute("SELECT line, digest FROM seen WHERE id = ?", (identity,)).fetchone()
        return Seen(*found)
