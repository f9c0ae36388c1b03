"""`make dev`: web server and worker begin together, begin again when a file changes, and end together."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.db.config.test_starting import environment
from tests.db.config.test_supervision import free_port
from tests.support.prebuilt import ROOT, find_or_make_migrated
from tests.support.site import wait_until

pytestmark = [pytest.mark.xdist_group("killed workers"), pytest.mark.long]


def has_answered(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def find_workers(folder: Path) -> list[int]:
    """List the worker processes whose data lie in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line, variables = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        except OSError:
            continue
        if b"celery" in line and os.fsencode(folder) in variables:
            found.append(int(process.name))
    return found


def has_begun_again(folder: Path, first: list[int]) -> bool:
    """Touch a file until the workers are others; what changes before the first look at all files is not noticed."""
    (ROOT / "config" / "urls.py").touch()
    time.sleep(2)
    return set(find_workers(folder)).isdisjoint(first)


def test_both_begin_again_with_a_changed_file_and_end_together(tmp_path):
    shutil.copy(find_or_make_migrated(), tmp_path / "concord.sqlite3")
    port = free_port()
    site = subprocess.Popen(
        [sys.executable, "manage.py", "dev"],
        cwd=ROOT,
        env={**environment(tmp_path), "CONCORD_PORT": str(port), "CONCORD_DEBUG": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: has_answered(f"http://127.0.0.1:{port}/login/"), 180)
        first = find_workers(tmp_path)
        assert first
        wait_until(lambda: has_begun_again(tmp_path, first), 180)
        wait_until(lambda: has_answered(f"http://127.0.0.1:{port}/healthz"), 180)
    finally:
        os.killpg(site.pid, signal.SIGTERM)  # to all, as Ctrl-C; SIGINT is ignored where the tests run behind a shell
        site.wait(30)
    wait_until(lambda: not find_workers(tmp_path), 30)
