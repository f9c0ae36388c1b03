"""The process that draws charts, so that web processes and workers load neither Altair nor a JavaScript engine.

    python -m core.chart_renderer DESCRIPTOR

Each process that draws starts one when its first chart is wanted. It ends when nothing was drawn for `LINGER` seconds,
when its owner ends, and when a chart takes longer than `MOST_SECONDS`. The next chart starts another.
"""

from __future__ import annotations

import atexit
import os
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
        """Return what a function of some module makes of its arguments. Raises ChartError where it fails.

        `request` is the pickled pair of both. A process that has ended since the last chart is replaced.
        """
        with self._turn:
            for is_last in (self._connection is None, True):
                try:
                    return self._ask(request)
                except (EOFError, OSError) as error:
                    if is_last:
                        raise ChartError("the process that draws has ended over the chart") from error
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, request: bytes) -> Any:
        connection = self._connection or self._start()
        try:
            connection.send_bytes(request)
            if not connection.poll(self.most_seconds):
                raise ChartError(f"the chart was not drawn within {self.most_seconds:g} s")  # noqa: TRY301
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
            process = subprocess.Popen(  # noqa: S603
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        Thread(target=process.wait, name="chart renderer", daemon=True).start()
        self.process, self._connection = process, Connection(ours.detach())
        return self._connection

    def close(self) -> None:
        """End the process; the next chart starts another."""
        if self._connection:
            self._connection.close()
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = self._connection = None


renderer = ChartRenderer()
"""The one of this process."""


def forget() -> None:
    """Leave the parent its renderer: two processes cannot share a connection."""
    global renderer
    renderer = ChartRenderer()


def render(request: bytes) -> Any:
    """Let this process's renderer draw."""
    return renderer.render(request)


def close() -> None:
    """End this process's renderer."""
    renderer.close()


os.register_at_fork(after_in_child=forget)
atexit.register(close)


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
