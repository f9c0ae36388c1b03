"""A PostgreSQL cluster, a Redis and other processes of one's own, which are killed and started again at will."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

/* Seconds that the clock on the wall is ahead: a number in a file that is looked at each time. */
static long ahead(void) {
    static volatile long *shared = 0;
    if (!shared) {
        int file = open(getenv("CLOCK_AHEAD"), O_RDONLY);
        void *found = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
        if (found == MAP_FAILED) return 0;
        shared = found;
    }
    return *shared;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *) = 0;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(clock, at);
    if (!answer && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
    return answer;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def wait_until(true: Callable[[], bool], what: str, patience: float = 180) -> None:
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            raise SystemExit(f"bench: {what} did not happen within {patience:g} s")
        time.sleep(0.1)


class Clock:
    """What time it is for the processes that are started with its environment; it can be set while they run."""

    def __init__(self, folder: Path) -> None:
        self.file, self.library = folder / "ahead", folder / "clock.so"
        self.file.write_bytes((0).to_bytes(8, "little", signed=True))
        (folder / "clock.c").write_text(CLOCK)
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(self.library), str(folder / "clock.c"), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)

    def step(self, seconds: int) -> None:
        self.file.write_bytes(seconds.to_bytes(8, "little", signed=True))

    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "CLOCK_AHEAD": str(self.file)}


class Machine:
    """A program with its children, in a process group of its own."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        port: int = 0,
        environment: Mapping[str, str] | None = None,
        user: str | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.name, self.command, self.port, self.user, self.cwd = name, list(command), port, user, cwd
        self.environment = {**os.environ, **(environment or {})}
        self.log = (folder / f"{name}.log").open("ab")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.environment,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
            user=self.user,
        )
        if self.port:
            wait_until(lambda: answers(self.port), f"an answer of {self.name}")

    def end(self, sent: signal.Signals, *, group: bool = False) -> None:
        """Send it a signal, alone or with its children, and wait until it is gone."""
        if self.process is None or self.process.poll() is not None:
            return
        (os.killpg if group else os.kill)(self.process.pid, sent)
        self.process.wait(timeout=120)

    def kill(self) -> None:
        self.end(signal.SIGKILL, group=True)


def missing() -> str:
    """Which program is not here; empty where all are."""
    absent = [name for name in ("redis-server", "cc") if shutil.which(name) is None]
    return ", ".join([*absent, *([] if postgres_bin() else ["initdb"])])


def postgres_bin() -> Path | None:
    """The folder of PostgreSQL's own programs: the newest that is installed, or that of `initdb` on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    where = found[-1] if found else shutil.which("initdb")
    return Path(where).resolve().parent if where else None


def postgresql(folder: Path) -> Machine:
    """A new cluster. PostgreSQL refuses to run as root: there it runs as the account postgres."""
    programs, data, port = postgres_bin(), folder / "cluster", free_port()
    assert programs
    user = "postgres" if os.geteuid() == 0 else None
    data.mkdir()
    folder.chmod(0o755)
    if user:
        shutil.chown(data, user)
    made = [str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "concord", "-E", "UTF8", "--no-locale"]
    subprocess.run(made, check=True, capture_output=True, user=user, cwd="/")
    options = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories="]
    command = [str(programs / "postgres"), "-D", str(data), *(word for one in options for word in ("-c", one))]
    return Machine("postgresql", command, folder, port=port, user=user, cwd=Path("/"))


def redis(folder: Path) -> Machine:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    return Machine("redis", command, folder, port=port)
