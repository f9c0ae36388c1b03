"""Make the virtual environment and fill it from the lock file; do nothing when that is already done.

    python3 scripts/bootstrap.py [--dev]

Wheels are kept in a folder of the user's cache, checked against the lock's hashes. Once they are there,
a fresh clone is set up without any network. Uses the standard library only.

The local model's packages have a lock of their own and come without what they ask for, which Concord has no use for.
Where there are none for this machine, all else works, and the local judge says what it lacks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCAL_LOCK = ROOT / "requirements-local.lock"
SETUP_LOCK = ROOT / "requirements-setup.lock"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PIP = ("pip", "--disable-pip-version-check")
UV = ("uv", "pip", "install", "-q", "--no-config", "--python", str(PYTHON))
"""Unpacks on all cores and links what an earlier checkout has unpacked: a quarter of pip's time."""


def wheelhouse() -> Path:
    """The folder that keeps downloaded wheels: the user's cache, or the checkout where that is read-only."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for folder in (Path(base) / "concord" / "wheels" / tag, ROOT / ".cache" / "wheels" / tag):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    sys.exit("bootstrap: no folder can be written for the package cache; set XDG_CACHE_HOME to one that can")


def stamp_of(lock: Path) -> str:
    locks = b"".join(each.read_bytes() for each in (lock, LOCAL_LOCK, SETUP_LOCK))
    return hashlib.sha256(locks + sys.version.encode()).hexdigest()


def run(module: str, *args: str, quiet: bool = False) -> bool:
    sink = subprocess.DEVNULL if quiet else sys.stderr
    command = [str(PYTHON), "-m", module, *args]
    return subprocess.run(command, stdout=sink, stderr=sink, check=False).returncode == 0


def install(lock: Path, *options: str, by: Sequence[str] = UV) -> bool:
    """Install from the cache, which is filled first where it has to be: by pip, which knows the machine's index."""
    cache = wheelhouse()
    wanted = ["--require-hashes", "-r", str(lock), *options]
    offline = [*by, "--no-index", f"--find-links={cache.as_uri()}", *wanted]
    if run(*offline, quiet=True):
        return True
    print(f"bootstrap: fetching packages into {cache} (once)", file=sys.stderr)
    return run(*PIP, "download", "-qq", "--only-binary=:all:", "-d", str(cache), *wanted) and run(*offline)


def stamp(dev: bool) -> Path:
    return VENV / f".installed-{'dev' if dev else 'run'}"


def lock_file(dev: bool) -> Path:
    return ROOT / ("requirements-dev.lock" if dev else "requirements.lock")


def is_done(dev: bool) -> bool:
    """Whether .venv was filled from these locks. The development set holds everything that running needs."""
    sets = [True] if dev else [False, True]
    return any(stamp(each).exists() and stamp(each).read_text() == stamp_of(lock_file(each)) for each in sets)


def set_up(dev: bool) -> None:
    print("bootstrap: setting up .venv", file=sys.stderr)
    if not PYTHON.exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=False)
        if made.returncode:
            sys.exit("bootstrap: `python3 -m venv` failed; on Debian and Ubuntu install the package python3-venv")
    if not install(SETUP_LOCK, by=(*PIP, "install", "-qq")) or not install(lock_file(dev)):
        sys.exit("bootstrap: the packages could not be installed; the lines above say why. Nothing else was changed.")
    if not install(LOCAL_LOCK, "--no-deps"):
        print("bootstrap: going on without the local model; the lines above say why", file=sys.stderr)
    stamp(dev).write_text(stamp_of(lock_file(dev)))


@contextmanager
def alone() -> Iterator[None]:
    """Run the block while no other process sets up this checkout: two at once would spoil each other's .venv."""
    if os.name == "nt":
        yield
        return
    import fcntl

    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("bootstrap: waiting until another process has set up .venv", file=sys.stderr)
        fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also install what tests and lint need")
    dev = parser.parse_args().dev
    if sys.version_info < (3, 11):  # noqa: UP036 - this file must speak before anything is installed
        sys.exit(f"bootstrap: Python 3.11 or newer is needed; this is {sys.version.split()[0]} ({sys.executable})")
    with alone():
        if not is_done(dev):
            set_up(dev)


if __name__ == "__main__":
    main()
