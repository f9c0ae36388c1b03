"""Which process this is, told so that another one on the same machine can see whether it is gone.

A process is known by its id and the moment at which it started, within one boot of a machine and one namespace of
process ids: containers may share a host name, and ids are given out again. Where the system does not tell, nobody is
known to be gone.
"""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from ctypes import CDLL
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ENDED = ("Z", "X")
"""States of a process that has ended and waits for its parent to look."""

PROC = Path("/proc")

ARENAS = -8
"""M_ARENA_MAX of glibc's malloc.h."""


@dataclass(frozen=True, slots=True)
class Process:
    """`machine` is empty where the system does not tell; `started` is in ticks since the machine did."""

    machine: str
    pid: int
    started: int

    @classmethod
    def current(cls) -> Process:
        """Return the process that asks."""
        found = status(os.getpid())
        return cls(machine() if found else "", os.getpid(), found[1] if found else 0)

    @property
    def is_gone(self) -> bool:
        """Whether it has certainly ended. One of another machine may live."""
        if not self.machine or self.machine != machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        found = status(self.pid)
        return found is not None and (found[0] in ENDED or found[1] != self.started)


def status(pid: int) -> tuple[str, int] | None:
    """The state of a process, and when it started; None where that cannot be seen."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return fields[0], int(fields[19])


def measure_memory() -> int:
    """Return the bytes of this process that lie in memory, those that it shares too; 0 where that cannot be seen."""
    try:
        pages = int((PROC / "self" / "statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def share_memory() -> None:
    """Call before a process forks: its collector of garbage no longer touches, and so copies, what children share.

    Their threads share one arena, since glibc gives each thread its own, which keeps what it once needed.
    """
    gc.collect()
    gc.freeze()
    with suppress(AttributeError):  # a C library without arenas
        CDLL(None).mallopt(ARENAS, 1)


@cache
def machine() -> str:
    """This boot of this machine, with the namespaces of ids and times; empty where the system does not tell."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        spaces = [(PROC / "self/ns" / name).stat().st_ino for name in ("pid", "time")]
    except OSError:
        return ""
    return "/".join([boot, *map(str, spaces)])
