"""The data folder: whether it can be written, who may read it, and the signing key in it.

`config/settings.py` sets the umask, which every process loads before it writes anything. That does not reach files that
an earlier version made, so these are tightened when a process starts. `config/checks.py` reports what stays open.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

HINT = "Set CONCORD_DATA_DIR to a folder that this user may write, on a disk that has room."


@contextmanager
def explain_unwritable(folder: Path) -> Iterator[None]:
    """Say in a sentence that the folder cannot be written, whoever loads the settings."""
    try:
        yield
    except OSError as error:
        raise ImproperlyConfigured(f"The data folder {folder} cannot be written: {error.strerror}. {HINT}") from error


def secret_key(folder: Path) -> str:
    """The key kept in `folder`, made on first use. Two processes that start together get the same one."""
    path = folder / "secret_key"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_text().strip()
        return key or _rewrite(path)
    with os.fdopen(handle, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def _rewrite(path: Path) -> str:
    """Replace an empty key file, which a crash between creating and writing it leaves behind."""
    key = secrets.token_urlsafe(50)
    path.write_text(key)
    return key


UMASK = 0o077
"""Also the bits of a mode that give group and others access."""

OWN = (
    "address",
    "attachments",
    "audit-heads",
    "backup-*.zip",
    "broker",
    "cache",
    "concord.sqlite3*",
    "import-errors",
    "import-files",
    "local-model",
    "logs",
    "secret_key",
    "signing_keys",
    "static",
    "supervisord.pid",
    "uploads",
    "withdrawn.jsonl",
)
"""What Concord makes directly in the data folder. A closed folder also closes what is in it."""


def is_open(path: Path) -> bool:
    """Whether it is there, and other accounts of the machine may read, write or enter it."""
    try:
        return bool(path.stat().st_mode & UMASK)
    except FileNotFoundError:  # some files of SQLite and of the broker come and go
        return False


def tighten(folder: Path, *, whole: bool) -> None:
    """Close what Concord made in the folder; with `whole` the folder too, which otherwise may hold more than that."""
    made = [found for pattern in OWN for found in folder.glob(pattern)]
    for path in [folder, *made] if whole else made:
        with suppress(FileNotFoundError, PermissionError):  # gone, or of another account: the check reports it
            if is_open(path) and not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~UMASK)


def open_paths(folder: Path, database: Path | None) -> list[Path]:
    """List what others may read: of the data folder and of a database's files elsewhere."""
    beside = sorted(database.parent.glob(f"{database.name}*")) if database and database.parent != folder else []
    return [path for path in (folder, *beside) if is_open(path)]
