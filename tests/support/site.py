"""A site of its own for tests that need real processes: a data folder, a database and a file broker in it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

SEED = """
from tests.support import factories as f
study = f.StudyFactory(name="Trial", slug="trial")
f.CriterionFactory(study=study, key="personalization")
f.CriterionFactory(study=study, key="task_completion", yes_no=True)
scenario = f.ScenarioFactory()
for position in range(1, 201):
    f.ItemFactory(study=study, position=position, dialogue=f.DialogueFactory(scenario=scenario))
"""


class Site:
    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(ROOT),
            "CONCORD_DATA_DIR": str(folder),
            "CONCORD_WORKER_BEAT_SECONDS": "0.3",
            "CONCORD_WORKER_GONE_SECONDS": "2",
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
            **environment,
        }

    def manage(self, *arguments: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            text=True,
            capture_output=True,
            check=check,
            **{"timeout": 280, **options},
        )

    def judge(self, *arguments: str) -> dict[str, Any]:
        return json.loads(self.manage("judge", "trial", *arguments, "--json").stdout)

    def prepare(self, seed: str = SEED) -> None:
        if not (self.folder / "concord.sqlite3").exists():
            self.manage("migrate", "-v0")
        self.manage("shell", "-v0", input=seed)

    def worker(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """`celery worker` with two processes."""
        return self.process("celery", "-A", "config", "worker", "-c", "2")

    def web(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """The web server, on a port that the system chooses."""
        return self.process("gunicorn", "config.wsgi:application", "--bind", "127.0.0.1:0")

    @contextmanager
    def process(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process group of its own, which is gone afterwards."""
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill(process)

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.folder / "concord.sqlite3", timeout=30)
        try:
            return connection.execute(sql, parameters).fetchall()
        finally:
            connection.close()

    def judged(self, run: int) -> int:
        return int(self.rows("SELECT count(*) FROM judging_judgment WHERE run_id = ?", run)[0][0])

    def is_finished(self, run: int) -> bool:
        return bool(self.rows("SELECT finished_at FROM judging_judgerun WHERE id = ?", run)[0][0])


def kill(process: subprocess.Popen[Any]) -> None:
    """End the whole process group at once, without a chance to tidy up."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(there: Callable[[], Any], seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
    return found
