"""Files that are handed on while they are made: never whole in memory, nor on a disk."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

AT_ONCE = 2**16
"""Bytes that are handed on together, at least."""

Member = tuple[str, Iterable[bytes]]
"""A file of an archive: its name, and its pieces."""


class Pieces(io.RawIOBase):
    """What is written to it, handed on a piece at a time."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.told = self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self.waiting.append(piece)
        self.told += len(piece)
        self.size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self.told

    def take(self) -> bytes:
        pieces, self.waiting, self.size = self.waiting, [], 0
        return b"".join(pieces)


def write_zip(members: Iterable[Member]) -> Iterator[bytes]:
    """A ZIP archive of files, which are read one after the other, each as it is needed."""
    into = Pieces()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in members:
            with archive.open(name, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
                    if into.size >= AT_ONCE:
                        yield into.take()
    yield into.take()


def move_below(folder: str, members: Iterable[Member]) -> Iterator[Member]:
    """The same files in a folder of that name."""
    return ((f"{folder}/{name}", pieces) for name, pieces in members)
