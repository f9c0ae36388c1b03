"""Files of the site are readable by the account that runs it, and by no other account of the machine.

`config/settings.py` sets the umask, which every process loads before it writes anything. That does not reach files that
an earlier version made, so these are tightened when a process starts. `config/checks.py` reports what stays open.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

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
