"""A process for work whose libraries are large: drawing charts, recomputing figures with scikit-learn.

    python -m core.helper_process DESCRIPTOR SECONDS

Each process that has such work starts one helper. A web process that loaded these libraries itself would hold them
forever. The helper ends when it had nothing to do for `LINGER` seconds, when its owner ends, and when a call takes
longer than `MOST_SECONDS`. The next call starts another.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeVar

LINGER, MOST_SECONDS = 30.0, 110.0
"""The second is less than gunicorn's `timeout`."""

ROOT = Path(__file__).resolve().parents[1]
P = ParamSpec("P")
T = TypeVar("T")


class HelperError(RuntimeError):
    """The helper could not do its work; the message says why."""


class HelperProcess:
    """One helper and the way to it. Threads take turns: what draws charts draws one at a time anyway."""

    def __init__(self, most_seconds: float = MOST_SECONDS) -> None:
        self.most_seconds = most_seconds
        self.process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._turn = Lock()

    def run(self, request: bytes) -> object:
        """Return the result of a request. A helper that has ended since the last one is replaced."""
        with self._turn:
            for is_last in (self._connection is None, True):
                try:
                    is_done, answer = self._ask(request)
                    break
                except (EOFError, OSError) as error:
                    if is_last:
                        raise HelperError("the helper ended over this work") from error
        if not is_done:
            raise HelperError(answer)
        return answer

    def _ask(self, request: bytes) -> tuple[bool, object]:
        """Whether the work was done, and its result or what went wrong."""
        connection = self._connection or self._start()
        try:
            connection.send_bytes(request)
            if connection.poll(self.most_seconds):
                is_done, answer = connection.recv()
                return is_done, answer
        except BaseException:
            self.close()
            raise
        self.close()
        raise HelperError(f"the helper did not answer within {self.most_seconds:g} s")

    def _start(self) -> Connection:
        """Start a helper. A thread waits for its end, so that none is left as a zombie."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "core.helper_process", str(theirs.fileno()), str(LINGER)]
            process = subprocess.Popen(  # noqa: S603
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        Thread(target=process.wait, name="end of the helper", daemon=True).start()
        self.process, self._connection = process, Connection(ours.detach())
        return self._connection

    def close(self) -> None:
        """End the helper; the next call starts another."""
        if self._connection:
            self._connection.close()
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = self._connection = None


helper = HelperProcess()
"""The one of this process."""


def to_request(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> bytes:
    """A call as bytes, the same for equal arguments. The function must stand in a module, so that the helper finds it.

    What is drawn is kept by these bytes. Without `fast`, a text that occurs twice is written once where both are one
    object: results just computed would be other bytes than the same results read from the database.
    """
    written = BytesIO()
    pickler = pickle.Pickler(written)
    pickler.fast = True
    pickler.dump((function, arguments, named))
    return written.getvalue()


def run(request: bytes) -> Any:
    """Return the result of a request from this process's helper."""
    return helper.run(request)


def call(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call the function in the helper. Raises HelperError where it raises."""
    result: T = run(to_request(function, *arguments, **named))
    return result


def forget() -> None:
    """Leave the parent its helper: two processes cannot use one connection."""
    global helper
    helper = HelperProcess()


def close() -> None:
    """End this process's helper."""
    helper.close()


os.register_at_fork(after_in_child=forget)
atexit.register(close)


def serve(connection: Connection, seconds: float) -> None:
    """Answer until the owner is gone or silent for that long."""
    while connection.poll(seconds):
        try:
            function, arguments, named = connection.recv()
        except EOFError:
            return
        try:
            answer = True, function(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - the owner raises it
            answer = False, f"{type(error).__name__}: {error}"
        connection.send(answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, meant for the owner, whose end is noticed
    serve(Connection(int(sys.argv[1])), float(sys.argv[2]))
