"""What processes that test side by side must not share."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile


def broker_of_this_process(url: str) -> str:
    """Each process of pytest-xdist has a database of Redis of its own: a cache that one clears is not another's."""
    before, slash, number = url.rpartition("/")
    process = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    if not url.startswith("redis") or not number.isdigit() or not process.isdigit():
        return url
    return f"{before}{slash}{(int(number) + int(process)) % 16}"


def folder_of_this_process() -> str:
    """A new folder, gone with the process; not with one that was forked from it."""
    folder, process = tempfile.mkdtemp(prefix="concord tests "), os.getpid()

    @atexit.register
    def leave_nothing_behind() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    return folder
