"""What one page, command or download costs: seconds, queries and memory, each in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Cost:
    """What it took.

    Attributes
    ----------
    seconds
        By the clock, with whatever else the machine did meanwhile.
    processor
        Seconds of processor time of the process and of its database connection: what it would take alone, at most.
    memory
        In MB, beyond what the process had before.
    size
        Bytes of the answer.
    problem
        Why there is no such figure; empty where all is well.
    slowest
        Seconds and text of the slowest statement.
    """

    seconds: float
    processor: float = 0.0
    queries: int = 0
    memory: float = 0.0
    size: int = 0
    problem: str = ""
    slowest: tuple[float, str] = (0.0, "")


def apart(act: Callable[[], dict[str, Any]], limit: int, *, draws: bool = False) -> Cost:
    """Do it in a forked process, which has the code loaded and no connection; end it after `limit` seconds."""
    from django.db import connections

    connections.close_all()
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        os.close(read)
        signal.alarm(limit)
        try:
            if draws:
                start_drawing()
            told = counted(act)
        except BaseException as error:  # noqa: BLE001 - it is told to the parent process
            traceback.print_exc()
            told = {"seconds": 0.0, "problem": f"{type(error).__name__}: {str(error)[:120]}"}
        os.write(write, json.dumps(told).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(pid, 0)
    if not text:
        ended = os.waitstatus_to_exitcode(status)
        return Cost(float(limit), problem=f"more than {limit} s" if ended == -signal.SIGALRM else f"ended with {ended}")
    told = json.loads(text)
    return Cost(**{**told, "slowest": tuple(told.get("slowest", (0.0, "")))})


def draw_point() -> dict[str, Any]:
    return {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}


def start_drawing() -> None:
    from core.charts import svg

    svg(draw_point)


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def processor(server: int) -> float:
    """Seconds that this process and that one have used; its own alone where the other is on another machine."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    try:
        values = Path(f"/proc/{server}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        values = ["0"] * 20
    return own.ru_utime + own.ru_stime + (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def counted(act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    from django.db import connection

    statements: list[tuple[float, str]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        at = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            statements.append((time.perf_counter() - at, sql))

    connection.ensure_connection()
    server = connection.connection.info.backend_pid
    before, used, began = resident(), processor(server), time.perf_counter()
    with connection.execute_wrapper(note):
        told = act()
    seconds, used = time.perf_counter() - began, processor(server) - used
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    worst = max(statements, default=(0.0, ""))
    return {
        "seconds": seconds,
        "processor": used,
        "queries": len(statements),
        "memory": max(0.0, most - before),
        "slowest": (worst[0], worst[1][:4000]),
        **told,
    }


def page(user: int, path: str, method: str = "get") -> Callable[[], dict[str, Any]]:
    """A page as a browser of this account gets it, read to its end."""

    def act() -> dict[str, Any]:
        from django.test import Client

        from core.accounts.models.users import User

        client = Client(SERVER_NAME="localhost")
        client.force_login(User.objects.get(pk=user), backend="config.accounts.Passwords")
        answer = getattr(client, method)(path)
        pieces = answer.streaming_content if answer.streaming else [answer.content]
        size = sum(map(len, pieces))
        problem = "" if answer.status_code == 200 else f"status {answer.status_code}"
        return {"size": size, "problem": problem}

    return act
