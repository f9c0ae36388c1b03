"""How fast dialogues are simulated, and what kill -9 costs: real processes, embedded database and broker.

    python scripts/bench_simulate.py [--dialogues 200] [--turns 10] [--concurrency 32] [--delay 0.5] [--sequential 4]
                                     [--local 3] [--data PERSONALENS]

First a server in this process speaks chat completions and answers after --delay seconds: --dialogues of --turns turns
are played with --concurrency calls in flight and held to the ideal; then --sequential of them one call after the other.
Then --local profiles x 4 tasks (one of several domains) x 2 conditions are played by the local model on both sides,
with the worker killed in the middle: replies are counted in the worker's own log of calls. 0 leaves a part out. --data
takes profiles from a copy of PersonaLens. Exits 1 where the rate is below 85 % of the ideal, or a killed experiment
does not end with one reply for each turn.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.model_server import KEY, MODEL, Answer, running  # noqa: E402

LEAST_SHARE = 0.85
TASKS = ["SD-Alarm-task-1", "SD-Books-task-1", "SD-Restaurants-task-1", "MD-task-3"]
CALL = '/v1/chat/completions "'

SEED = """
from annotation.models import Profile, Scenario, Task
tasks = [
    Task(source="bench", external_id=name, content_hash=name, description="The user books a table for tonight.",
         intent="Book a table for tonight.", goal="A table is booked.", preference_types=["Cuisine"],
         domains=["Restaurants", "Books"] if name == LAST else ["Restaurants"], is_multi_domain=name == LAST)
    for name in TASKS
]
Task.objects.bulk_create(tasks)
for n in range(USERS):
    person = Profile.objects.create(
        source="bench", external_id=f"user{n}", content_hash=str(n), demographics={"age": "35-44", "name": f"User {n}"},
        preferences={"Restaurants": {"Cuisine": ["Thai"]}, "Books": {"Genre": ["history"]}},
        interests={"Restaurants": 1, "Books": 1},
        interactions={"Restaurants": "The user asks for Thai food and a table by the window."})
    Scenario.objects.bulk_create(
        Scenario(profile=person, task=task, situation={"Location": "Oslo", "Time of Day": "Evening"}) for task in tasks)
"""

COUNTING = """
from config.settings import *

LOGGING = {**LOGGING, "loggers": {}}  # a line for every answered call
"""


class Site:
    """A data folder with its database and broker, and the processes that use it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "counting_settings.py").write_text(COUNTING)
        self.log = folder / "worker.log"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "counting_settings",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
            "CONCORD_DATA_DIR": str(folder),
            "CONCORD_WORKER_BEAT_SECONDS": "0.5",
            "CONCORD_WORKER_GONE_SECONDS": "3",
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
            **environment,
        }
        self.manage("migrate", "-v0")

    def manage(self, *arguments: str, **options: Any) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done: subprocess.CompletedProcess[str] = subprocess.run(
            command, cwd=ROOT, env=self.environment, text=True, capture_output=True, check=True, **options
        )
        return done.stdout

    def people(self, users: int, tasks: list[str]) -> None:
        names = f"USERS, TASKS, LAST = {users}, {tasks!r}, {tasks[-1]!r}\n"
        self.manage("shell", "-v0", input=names + SEED)

    def simulate(self, *arguments: str) -> int:
        return int(json.loads(self.manage("simulate", *arguments, "--no-wait", "--json"))["experiment"])

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-c", "2", "--loglevel", "INFO"]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield process
        finally:
            kill(process)

    def row(self, sql: str, *parameters: Any) -> tuple[Any, ...]:
        with closing(sqlite3.connect(self.folder / "concord.sqlite3", timeout=30)) as connection:
            found: tuple[Any, ...] = connection.execute(sql, parameters).fetchone()
            return found

    def turns(self, experiment: int) -> int:
        sql = """SELECT count(*) FROM simulation_turn t JOIN simulation_simulateddialogue d ON d.id = t.simulated_id
                 WHERE d.experiment_id = ?"""
        return int(self.row(sql, experiment)[0])

    def seconds(self, experiment: int) -> float:
        """From the first turn saved to the last."""
        sql = """SELECT (julianday(max(t.created_at)) - julianday(min(t.created_at))) * 86400 FROM simulation_turn t
                 JOIN simulation_simulateddialogue d ON d.id = t.simulated_id WHERE d.experiment_id = ?"""
        return float(self.row(sql, experiment)[0])

    def over(self, experiment: int) -> bool:
        sql = "SELECT finished_at IS NOT NULL OR stopped_at IS NOT NULL FROM simulation_experiment WHERE id = ?"
        return bool(self.row(sql, experiment)[0])

    def wait(self, experiment: int, *, seconds: float = 3600) -> None:
        end = time.monotonic() + seconds
        while not self.over(experiment):
            if time.monotonic() > end:
                raise TimeoutError("the experiment does not end")
            time.sleep(0.2)


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def throughput(folder: Path, options: argparse.Namespace) -> bool:
    """Turns a second at the concurrency asked for, and one after the other."""
    with running() as server:
        server.keep_requests = False
        server.by_default = lambda _: Answer(text=f"Number {server.replies} says so.", delay=options.delay)
        site = Site(folder, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.url}/v1")
        site.people(options.dialogues, ["one"])
        many = played(site, options.dialogues, options.turns, options.concurrency)
        most = server.most_flying
        alone = played(site, options.sequential, options.turns, 1) if options.sequential else 0.0
    ideal = options.concurrency / options.delay
    rate = options.dialogues * options.turns / (many + options.delay)
    print(
        f"{options.dialogues} dialogues of {options.turns} turns, {options.delay:g} s a reply, {options.concurrency} "
        f"calls at once (most seen: {most}): {many + options.delay:.1f} s, {rate:.1f} turns/s, {rate / ideal:.1%} of "
        f"the ideal {ideal:.0f}"
    )
    if options.sequential:
        slow = options.sequential * options.turns / (alone + options.delay)
        print(f"one call after the other: {slow:.2f} turns/s; together {rate / slow:.1f} times as fast")
    return bool(rate >= LEAST_SHARE * ideal)


def played(site: Site, users: int, turns: int, concurrency: int) -> float:
    """Seconds from the first turn saved to the last."""
    model = f"openai_compatible:{MODEL} " + json.dumps({"concurrency": concurrency})
    experiment = site.simulate(
        *("--users", str(users), "--tasks", "all", "--condition", "base", "--user-agent", model),
        *("--assistant", model, "--max-turns", str(turns), "--max-turns-multi", str(turns)),
    )
    with site.worker():
        site.wait(experiment)
    assert site.turns(experiment) == users * turns, "not all turns were said"
    return site.seconds(experiment)


def local(folder: Path, options: argparse.Namespace) -> bool:
    """The local model on both sides, with the worker killed in the middle."""
    site = Site(folder)
    if options.data:
        site.manage("import_personalens", options.data, "--users", "0,7,66")
    else:
        site.people(options.local, TASKS)
    experiment = site.simulate(
        *("--users", str(options.local), "--tasks", ",".join(TASKS), "--condition", "base", "base+I"),
        *("--user-agent", 'local {"max_tokens": 60}', "--assistant", 'local {"max_tokens": 80}'),
        *("--max-turns", "6", "--max-turns-multi", "8"),
    )
    started = time.monotonic()
    with site.worker() as worker:
        while site.turns(experiment) < options.local * 12:
            time.sleep(0.1)
        kill(worker)
    before = site.turns(experiment)
    with site.worker():
        site.wait(experiment)
    answered = sum(CALL in line for line in site.log.read_text(errors="replace").splitlines())
    turns, (n,) = site.turns(experiment), site.row("SELECT count(*) FROM simulation_simulateddialogue")
    print(
        f"local model on both sides: {n} dialogues, {turns} turns in {time.monotonic() - started:.0f} s; killed after "
        f"{before} turns; {answered} replies for them"
    )
    endings = "SELECT group_concat(ending || ' ' || n, ', ') FROM (SELECT ending, count(*) n FROM {} GROUP BY ending)"
    print(f"endings: {site.row(endings.format('simulation_simulateddialogue'))[0]}")
    other = "SELECT count(*) FROM simulation_turn WHERE text LIKE '%Assistant:%' OR text LIKE '%User:%'"
    spoken_for = site.row(other)[0]
    print(f"turns that speak for the other side: {spoken_for}")
    return turns <= answered <= turns + 1 and spoken_for == 0 and n == options.local * 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=200)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--sequential", type=int, default=4)
    parser.add_argument("--local", type=int, default=3)
    parser.add_argument("--data", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concord bench ") as folder:
        good = [throughput(Path(folder) / "fast", options)] if options.dialogues else []
        good += [local(Path(folder) / "local", options)] if options.local else []
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
