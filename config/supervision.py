"""Starting and stopping web server and worker together. supervisord does the work; this says where and waits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from django.conf import settings

from judging.judges.providers.local import host

START_SECONDS = 300.0
"""A machine with other work takes minutes to load the code. What has ended is noticed at once: nobody waits in vain."""

ENDED = ("exited: web", "gave up: web")
"""What supervisord notes of a web server that could not start."""


class SupervisionError(RuntimeError):
    """The site could not be started or stopped; the message says why and where the logs are."""


def logs() -> Path:
    folder: Path = settings.DATA_DIR / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def find_running_pid() -> int | None:
    """Process id of this data folder's supervisord, or None. A stale file of a killed one counts as None."""
    try:
        pid = int((settings.DATA_DIR / "supervisord.pid").read_text())
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    return pid if _is_supervisord(pid) else None


def find_running_address() -> str:
    """The address that this data folder's site answers at, or ""."""
    return _address_file().read_text() if find_running_pid() is not None and _address_file().exists() else ""


def _address_file() -> Path:
    path: Path = settings.DATA_DIR / "address"
    return path


def _is_supervisord(pid: int) -> bool:
    """Whether the process is what the file says: ids are used again after a restart of the machine."""
    try:
        return b"supervisord" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self").exists()  # a system without /proc cannot tell; believe the file


def command(*, foreground: bool) -> list[str]:
    configuration = str(settings.BASE_DIR / "config" / "supervisord.conf")
    return [sys.executable, "-m", "supervisor.supervisord", "-c", configuration, *(["-n"] if foreground else [])]


def environment(bind: str) -> dict[str, str]:
    return {
        **os.environ,
        "CONCORD_PYTHON": sys.executable,
        "CONCORD_BIND": bind,
        "CONCORD_DATA_DIR": str(settings.DATA_DIR),
        "CONCORD_LOGS": str(logs()),
    }


def check_free(host: str, port: int) -> None:
    """Raise where another program already listens on the address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            message = (
                f"port {port} on {host} is taken ({error.strerror}); choose another: CONCORD_PORT={port + 1} make …"
            )
            raise SupervisionError(message) from error


def start_in_background(bind: str) -> None:
    """Start everything and return once the site answers."""
    _address_file().write_text(bind)
    before = _size(_log())
    started = subprocess.run(  # noqa: S603
        command(foreground=False),
        env=environment(bind),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if started.returncode:
        raise SupervisionError(f"supervisord did not start; see {logs()}")
    wait_until_answering(bind, since=before)


def _log() -> Path:
    return logs() / "supervisord.log"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def has_ended(since: int) -> bool:
    """Whether the web server ended after the log of supervisord had this size."""
    if not _log().exists():
        return False
    with _log().open("rb") as log:
        log.seek(since if since <= _size(_log()) else 0)  # a log that has become too long is begun anew
        noted = log.read().decode(errors="replace")
    return any(words in noted for words in ENDED)


def wait_until_answering(bind: str, seconds: float = START_SECONDS, *, since: int = 0) -> None:
    """Return once the site answers. Raise as soon as its web server has ended, or when it takes too long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{bind}/healthz", timeout=5):  # nosec B310 # always http
                return
        except (urllib.error.URLError, OSError):
            if has_ended(since):
                raise SupervisionError(f"the web server ended while it started; see {logs() / 'web.log'}") from None
            time.sleep(0.2)
    raise SupervisionError(f"the site did not answer within {seconds:.0f} s; see {logs() / 'web.log'}")


def stop(seconds: float = 90.0) -> bool:
    """End this data folder's supervisord and wait for it. False where none was running."""
    pid = find_running_pid()
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while find_running_pid() == pid:
        if time.monotonic() > deadline:
            raise SupervisionError(f"process {pid} is still ending; see {logs() / 'supervisord.log'}")
        time.sleep(0.1)
    host.end_unused(host.home(settings.DATA_DIR))
    return True
