"""How long do backup and restore of half a million rows take, and how much memory? On PostgreSQL and SQLite.

    python scripts/bench_backup.py [--items 23000] [--code FOLDER]

Fills a database of its own (`scaling/filling.py`; 22 rows an item), backs it up, restores the file into an empty site
on SQLite, backs that up, and restores this file into an empty database of PostgreSQL. Each command is a process of its
own. Memory is the most that it had, and should not depend on the size. --code runs the commands of another checkout on
the same rows. BENCH_DATABASE_URL names the server. What was made is removed again.
"""

from __future__ import annotations

import argparse
import base64
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg
from bench_scale import ROOT, SERVER, drop, fill_or_find, made, prepare

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
"""Of backups that are gone after the measurement."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=23_000)
    parser.add_argument("--code", type=Path, default=ROOT, help="the checkout whose commands are measured")
    given = parser.parse_args()
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"backup: not measured. PostgreSQL does not answer: {str(error).splitlines()[0]}")
        return 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="concord bench ")))
        names = [f"concord_backup_{os.getpid()}_{end}" for end in ("from", "to")]
        for name in names:
            made(name)
            stack.callback(drop, name)
        prepare(names[0], folder / "filled")
        fill_or_find(given.items, there=False)
        first, second = (f"{SERVER.rsplit('/', 1)[0]}/{name}" for name in names)
        print(f"{'':28} {'seconds':>8} {'cpu':>8} {'memory':>9} {'size':>9}")
        for what, url, file in (
            ("backup", first, "one"),
            ("restore", "", "one"),
            ("backup", "", "two"),
            ("restore", second, "two"),
        ):
            measured(given.code, what, url, folder, folder / file)
    return 0


def measured(code: Path, what: str, url: str, folder: Path, file: Path) -> None:
    """Run one command and print what it took. CalledProcessError where it fails."""
    environment = {
        **os.environ,
        "CONCORD_DATA_DIR": str(folder / "site"),
        "DATABASE_URL": url,
        "CONCORD_BACKUP_KEY": KEY,
    }
    arguments = ["manage.py", what, *(["-o"] if what == "backup" else []), str(file)]
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], cwd=code, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here, not by Popen
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    where = "PostgreSQL" if url else "SQLite"
    processor, memory, size = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file.stat().st_size / 1e6
    print(f"{f'{what} on {where}':28} {seconds:8.1f} {processor:8.1f} {memory:6,.0f} MB {size:6,.1f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
