"""Files that are there whole or not at all, also after a power cut or a kill in the middle of writing."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PREFIX, SUFFIX = ".concord-", ".part"
"""Prefix of a file's name while it is written. Its writer holds a lock on it."""


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name once it is complete and on the disk. OSError where it cannot be written.

    What a killed process left in the same folder is removed.
    """
    remove_abandoned(path.parent)
    part, file = start_part(path.parent)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
        sync_folder(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def start_part(folder: Path) -> tuple[Path, BinaryIO]:
    """Make a new file in the folder, which only its owner may read, and lock it."""
    while True:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder)
        file = os.fdopen(handle, "w+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        if Path(name).exists():
            return Path(name), file
        file.close()  # another process took it for abandoned just before it was locked


def remove_abandoned(folder: Path) -> None:
    """Remove the parts that no process holds a lock on."""
    for part in folder.glob(f"{PREFIX}*{SUFFIX}"):
        # Another process writes it, has just finished it, or it is of another account.
        with suppress(BlockingIOError, FileNotFoundError, PermissionError), part.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EBADF, errno.EINVAL}:  # network file systems that cannot sync a folder
            raise
    finally:
        os.close(handle)
