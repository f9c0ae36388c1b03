"""The process that holds a local model: llama.cpp's server, for as long as somebody uses it.

    python server.py FOLDER PIPE

FOLDER holds `settings.json`; a byte goes into the pipe once the model answers. The process runs by itself, so that a
worker's end does not end another's calls. Who uses the model keeps a shared lock on `users.lock`, which the system
takes from a process that dies, however it dies: once nobody has one for `linger` seconds, the server ends. While it
lives it keeps `server.lock`.

Only the standard library and xllamacpp are imported, and only what is written here is run: no framework, no project.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import IO

LOOK_SECONDS = 0.5
NICE = 10
"""The model works where others leave time: pages come first."""


def main(folder: Path, says: int) -> None:
    alone = (folder / "server.lock").open("a")
    if not soon_locked(alone):
        sys.exit("another server is there already")
    settings = json.loads((folder / "settings.json").read_text())
    key = secrets.token_urlsafe(24)
    os.nice(NICE)
    _server, url = start(key, **settings)
    announce(folder, {"url": url, "key": key, "pid": os.getpid()})
    os.write(says, b".")
    os.close(says)
    stay(folder, settings["linger"])
    os._exit(0)  # at once: whoever waits for the lock starts a new server


def start(
    key: str, model: str, name: str, context: int, threads: int, cache_mb: int, **_: object
) -> tuple[object, str]:
    """The server, ready to answer, and its address. It listens on this machine only, and only to who has the key."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams.poll = params.cpuparams_batch.poll = 0  # waiting threads sleep: the machine has other work
    params.cache_ram_mib = cache_mb
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # a free one
    params.api_keys = [key]
    params.ui = False
    params.verbosity = 1
    server = xllamacpp.Server(params)
    return server, server.listening_address


def announce(folder: Path, found: dict[str, object]) -> None:
    """Say where the server is, to this user alone, at once or not at all."""
    draft = folder / "server.draft"
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(found, file)
    draft.replace(folder / "server.json")


def stay(folder: Path, linger: float) -> None:
    """Return once nobody has used the server for so long, with the users' lock held against newcomers."""
    users = (folder / "users.lock").open("a")
    last_used = time.monotonic()
    while True:
        time.sleep(LOOK_SECONDS)
        if not try_lock(users):
            last_used = time.monotonic()
        elif time.monotonic() - last_used >= linger:
            return
        else:
            fcntl.flock(users, fcntl.LOCK_UN)


def try_lock(file: IO[str]) -> bool:
    """Whether nobody else has the lock, which is then held."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def soon_locked(file: IO[str]) -> bool:
    """The same, past those who only look whether somebody has it."""
    deadline = time.monotonic() + 2 * LOOK_SECONDS
    while not (got := try_lock(file)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS / 50)
    return got


def detach() -> None:
    """Go on in a process that belongs to no terminal and no parent, so that nobody has to wait for its end."""
    if os.fork():
        os._exit(0)
    os.setsid()


if __name__ == "__main__":
    detach()
    main(Path(sys.argv[1]), int(sys.argv[2]))
