"""Find the local model's server on this machine, or start it; one for each model and its settings.

Everything is settled by locks on files, which the system lets go of when a process dies: see `server`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers.local import server

START_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is started with. `linger` is how many seconds it waits for a new user before it ends."""

    name: str
    model: str
    context: int
    threads: int
    cache_mb: int
    linger: float


def home(data: str | Path | None = None) -> Path:
    """Where this machine's servers keep their files: in the data folder, or where temporary files go."""
    data = data or os.environ.get("CONCORD_DATA_DIR")
    base = Path(data) if data else Path(tempfile.gettempdir()) / f"concord-{os.getuid()}"
    return base / "local-model" / socket.gethostname()


class Lease:
    """The use of a server. It lives at least until this is closed, or the process is gone."""

    def __init__(self, settings: Settings, *, home: Path) -> None:
        """Wait until the server answers. PermanentError if it cannot be started."""
        name = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:16]
        self.folder = home / name
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._users = (self.folder / "users.lock").open("a")
        try:
            fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while a server is leaving
            with _is_locked(self.folder / "start.lock"):
                if not is_running(self.folder):
                    launch(self.folder, settings)
            found = json.loads((self.folder / "server.json").read_text())
        except BaseException:
            self.close()
            raise
        self.url, self.key, self.pid = str(found["url"]), str(found["key"]), int(found["pid"])

    def close(self) -> None:
        self._users.close()


def launch(folder: Path, settings: Settings) -> None:
    """Start a server and wait until it says that it is ready, or falls silent."""
    (folder / "settings.json").write_text(json.dumps(asdict(settings)))
    hears, says = os.pipe()
    try:
        command = [sys.executable, "-I", server.__file__, str(folder), str(says)]
        with (folder / "server.log").open("wb") as log:
            subprocess.run(command, pass_fds=[says], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)  # noqa: S603
        os.close(says)
        spoke, _, _ = select.select([hears], [], [], START_SECONDS)
        if not spoke:
            raise TransientError(f"The local model took longer than {START_SECONDS:.0f} s to start.")
        if not os.read(hears, 1):
            raise PermanentError(f"The local model did not start: {read_last_lines(folder)}")
    finally:
        os.close(hears)


def is_running(folder: Path) -> bool:
    with (folder / "server.lock").open("a") as file:
        return not server.try_lock(file)


def end_unused(home: Path) -> int:
    """End the servers that nobody uses, before they do so by themselves. Returns how many."""
    folders = [path.parent for path in home.glob("*/server.json")]
    return sum(_ended(folder) for folder in folders)


def _ended(folder: Path) -> bool:
    """End the folder's server if it runs unused. Newcomers wait for the lock meanwhile, and then start another."""
    with (folder / "users.lock").open("a") as users:
        if not server.try_lock(users) or not is_running(folder):
            return False
        os.kill(int(json.loads((folder / "server.json").read_text())["pid"]), signal.SIGTERM)
        with (folder / "server.lock").open("a") as gone:
            return server.soon_locked(gone)


def read_last_lines(folder: Path) -> str:
    lines = (folder / "server.log").read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"


@contextmanager
def _is_locked(path: Path) -> Iterator[IO[str]]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
