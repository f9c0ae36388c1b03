"""Files of any length: read ahead in a second thread, so that parsing goes on while the database writes; and their ids,
kept on a disk, so that a file of any length needs little memory.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Generator, Iterable
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

Element = TypeVar("Element")


class Failed:
    """What the reading thread hands over when it raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Finished:
    """What the reading thread hands over last."""


def read_ahead(elements: Iterable[Element], *, depth: int = 4) -> Generator[Element]:
    """The same elements, at most `depth` of them read in advance; an error is raised where its element would be.

    The thread ends with the generator, also when that is closed early. `elements` must not use the database, whose
    connections belong to the thread that opened them.
    """
    waiting: queue.Queue[Element | Failed | Finished] = queue.Queue(depth)
    stopped = threading.Event()

    def hand_over(element: Element | Failed | Finished) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(element, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for element in elements:
                if not hand_over(element):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that reads the queue
            hand_over(Failed(error))
        else:
            hand_over(Finished())

    thread = threading.Thread(target=read, name="read-ahead", daemon=True)
    thread.start()
    try:
        while not isinstance(element := waiting.get(), Finished):
            if isinstance(element, Failed):
                raise element.error
            yield element
    finally:
        stopped.set()
        thread.join()


PAGES_IN_MEMORY = "-16000"
"""As SQLite takes it: so many kilobytes."""


class Seen(NamedTuple):
    """Where an id was seen first, and a hash of what it was the id of."""

    line: int
    digest: str


class SeenIds:
    """The ids of one file: `with SeenIds() as seen: first = seen.find_or_add("a", 3, "…")`."""

    def __init__(self) -> None:
        # Without a name: a file of its own, gone when closed. A reading that was given up is closed by whichever thread
        # collects garbage.
        self.database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
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
