"""The web server that is measured, and a meter of the processor time that it and its database use."""

from __future__ import annotations

import configparser
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class running_server:  # noqa: N801
    """The web program of supervisord.conf on a free port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> running_server:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
        config.read(ROOT / "config" / "supervisord.conf")
        command = config["program:web"]["command"]
        command = command.replace("%(ENV_CONCORD_PYTHON)s", sys.executable)
        command = command.replace("%(ENV_CONCORD_BIND)s", f"127.0.0.1:{self.port}")
        self.log = (self.folder / "web.log").open("w")
        self.process = subprocess.Popen(shlex.split(command), cwd=ROOT, stdout=self.log, stderr=self.log)
        wait_for(self.port)
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()


class Meter:
    """Processor time of the web processes, of the database's processes for them, and of this one, while people work.

    Read from /proc; where there is none, nothing is measured. A connection that ended keeps the last figure it had.
    """

    def __init__(self, web: int, database: str) -> None:
        self.web, self.database = web, database
        self.began: dict[tuple[str, int], float] = {}
        self.last: dict[tuple[str, int], float] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> Meter:
        self.thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def start(self) -> None:
        """Count from now on."""
        self.began = self.read()

    def stop(self) -> None:
        if not self.over.is_set():
            self.over.set()
            self.thread.join()
            self.last |= self.read()

    def watch(self) -> None:
        while not self.over.wait(0.5):
            self.last |= self.read()

    def used(self) -> dict[str, float]:
        """Seconds, by web, database and people."""
        found: dict[str, float] = {}
        for (kind, pid), seconds in self.last.items():
            found[kind] = found.get(kind, 0) + seconds - self.began.get((kind, pid), 0)
        return found

    def read(self) -> dict[tuple[str, int], float]:
        tick = os.sysconf("SC_CLK_TCK")
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                values = (folder / "stat").read_text().rpartition(") ")[2].split()
                command = (folder / "cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            pid, parent = int(folder.name), int(values[1])
            if kind := self.kind(pid, parent, command):
                found[kind, pid] = (int(values[11]) + int(values[12])) / tick
        return found

    def kind(self, pid: int, parent: int, command: bytes) -> str:
        if self.web in (pid, parent):
            return "web"
        if command.startswith(b"postgres: ") and self.database.encode() in command:
            return "database"
        return "people" if pid == os.getpid() else ""


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("bench: the web server does not answer")
