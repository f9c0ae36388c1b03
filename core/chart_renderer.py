"""The process that draws charts, so that web processes and workers load neither Altair nor a JavaScript engine.

    python -m core.chart_renderer DESCRIPTOR

Each process that draws starts one when its first chart is wanted. It ends when nothing was drawn for `LINGER` seconds,
when its owner ends, however that ends, and when a chart takes longer than `MOST_SECONDS`; the next chart starts another.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any

LINGER, MOST_SECONDS = 60.0, 60.0
ROOT = Path(__file__).resolve().parents[1]


class ChartError(RuntimeError):
    """A chart could not be drawn; the message says why."""


class ChartRenderer:
    """One process that draws, and the way to it. Threads take turns, as the engine draws one chart at a time."""

    def __init__(self, most_seconds: float = MOST_SECONDS) -> None:
        self.most_seconds = most_seconds
        self.process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._turn = Lock()

    def render(self, request: bytes) -> Any:
        """Return what the renderer answers. A process that has ended is replaced once.

        `request` is a pickled pair of a function of a module and its arguments.
        """
        with self._turn:
            if self.process is None:
                return self._ask(request)
            try:
                return self._ask(request)
            except (EOFError, OSError):  # it lingered for too long, or was killed
                return self._ask(request)

    def _ask(self, request: bytes) -> Any:
        connection = self._connection or self._start()
        try:
            connection.send_bytes(request)
            if not connection.poll(self.most_seconds):
                raise ChartError(f"the chart was not drawn within {self.most_seconds:g} s")
            is_drawn, answer = connection.recv()
        except BaseException:
            self.close()
            raise
        if not is_drawn:
            raise ChartError(answer)
        return answer

    def _start(self) -> Connection:
        """Start a process. A thread waits for its end: nothing is left of one that has ended by itself."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "core.chart_renderer", str(theirs.fileno())]
        with theirs:
            process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)  # noqa: S603
        Thread(target=process.wait, name="chart renderer", daemon=True).start()
        self.process, self._connection = process, Connection(ours.detach())
        return self._connection

    def close(self) -> None:
        """End the process; the next chart starts another."""
        if self._connection:
            self._connection.close()
        if self.process:
            self.process.kill()
        self.process = self._connection = None


renderer = ChartRenderer()
"""The one of this process."""


def forget() -> None:
    """Leave the parent its renderer: two processes cannot share a connection."""
    global renderer  # noqa: PLW0603 - a forked process starts with a copy
    renderer = ChartRenderer()


os.register_at_fork(after_in_child=forget)


def serve(connection: Connection) -> None:
    """Answer until the owner is gone or silent for `LINGER` seconds."""
    while connection.poll(LINGER):
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = True, function(*arguments)
        except Exception as error:  # noqa: BLE001 - the owner raises it
            answer = False, f"{type(error).__name__}: {error}"
        connection.send(answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, meant for the owner, whose end is noticed
    serve(Connection(int(sys.argv[1])))
