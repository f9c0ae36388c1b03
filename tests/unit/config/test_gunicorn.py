"""A web process that has grown ends, once it answers nobody, and another takes its place: a real gunicorn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.paths import ROOT
from tests.support.site import wait_until

APP = """
import os, time
from pathlib import Path

def application(environ, start_response):
    if environ["PATH_INFO"] == "/until":
        Path("begun").touch()
        while not Path("end").exists():
            time.sleep(0.05)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""
CONFIG = """
from config import gunicorn
from config.gunicorn import *

gunicorn.MOST_MEMORY = 1
wsgi_app, bind, workers = "app", "127.0.0.1:0", 1
del when_ready
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a gunicorn whose process has grown from its first request on."""
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "conf.py").write_text(CONFIG)
    command = [sys.executable, "-m", "gunicorn", "-c", str(tmp_path / "conf.py"), "--pythonpath", str(tmp_path)]
    path = f"{ROOT}{os.pathsep}{tmp_path}"
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        yield next(found[0] for line in running.stderr if (found := re.search(r"http://[\d.:]+", line)))
        running.terminate()
        running.stderr.read()


def ask(address: str, path: str = "") -> str:
    """The process that answers."""
    with urlopen(f"{address}/{path}", timeout=20) as answer:
        return answer.read().decode()


@pytest.mark.long
def test_a_grown_process_answers_all_it_has_and_gives_way_to_another(address: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(ask, address, "until")
        wait_until((tmp_path / "begun").exists)
        meanwhile = ask(address)
        time.sleep(1.2)  # gunicorn looks every second whether a process is to end
        assert ask(address) == meanwhile, "while it answers one, it takes others too"
        (tmp_path / "end").touch()
        first = slow.result()
    assert first == meanwhile
    wait_until(lambda: ask(address) != first)
