"""What is lost where things break in the middle of work? Nothing may be, nor be doubled or half done.

    python scripts/bench_faults.py [--items 160] [--people 6]

On a PostgreSQL cluster and a Redis of its own, people rate over HTTP and a judge is at work, while one thing after the
other breaks: PostgreSQL is restarted and crashes, Redis is emptied and killed, the worker and the web server are
killed, the clock is set back by an hour and once more while no worker is there, an export runs out of disk. Each breaks
when a further part of the work is done. What a virtual annotator could not hand in is sent again, as the script of the
page does. At the end every answer that the site said it had saved must be there as it was given, the study and the run
complete, and `check_invariants` must find nothing. The clock is that of a library which is loaded before the C library
(`annotating/machines.py`).
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import redis as redis_client
from annotating.machines import Clock, Machine, free_port, missing, postgresql, redis, wait_until
from annotating.people import Person
from annotating.server import ROOT
from annotating.study import SLUG, made_study

OVERLAP = 2
HOUR = 3600
SMALL_DISK = 20_000
SLOW = {"otherwise": "1", "delay": 0.6, "concurrency": 2}


class Patient(Person):
    """Sends again what was not answered, or answered with 500 or more, until it is."""

    refused: Counter[str]

    def post(self, path: str, data: dict[str, str]) -> tuple[int, dict[str, Any]]:
        end = time.monotonic() + 300
        while time.monotonic() < end:
            try:
                before = Counter(self.problems)
                status, told = super().post(path, data)
            except (OSError, HTTPException, ValueError) as error:  # the connection, or the answer, broke off
                self.refused[type(error).__name__] += 1
                self.connection = None
            else:
                if status < 500:
                    return status, told
                self.problems = before
                self.refused[str(status)] += 1
            time.sleep(0.3)
        raise SystemExit("bench: the site did not come back")


class Site:
    """Everything that can break."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, Clock(folder)
        self.database, self.broker = postgresql(folder), redis(folder)
        self.port = free_port()
        self.export_problems: list[str] = []
        self.environment = {
            "CONCORD_DATA_DIR": str(folder / "data"),
            "CONCORD_LOG_LEVEL": "WARNING",
            "CONCORD_WORKER_BEAT_SECONDS": "0.5",
            "CONCORD_WORKER_GONE_SECONDS": "4",
            "DATABASE_URL": f"postgresql://concord@127.0.0.1:{self.database.port}/postgres",
            "CELERY_BROKER_URL": f"redis://127.0.0.1:{self.broker.port}/0",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        os.environ.update(self.environment)
        clocked = {**self.environment, **self.clock.environment()}
        self.web = Machine("web", self.program("web"), folder, port=self.port, environment=clocked, cwd=ROOT)
        self.worker = Machine("worker", self.program("worker"), folder, environment=clocked, cwd=ROOT)

    def program(self, name: str) -> list[str]:
        config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
        config.read(ROOT / "config" / "supervisord.conf")
        command = config[f"program:{name}"]["command"].replace("%(ENV_CONCORD_PYTHON)s", sys.executable)
        return shlex.split(command.replace("%(ENV_CONCORD_BIND)s", f"127.0.0.1:{self.port}"))

    def rows(self, statement: LiteralString, *parameters: int) -> list[Any]:
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            return connection.execute(statement, parameters).fetchall()

    def manage(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=300, check=False, **options)

    # ---------- what breaks ----------

    def postgresql_restarted(self) -> None:
        self.database.end(signal.SIGINT)
        time.sleep(2)
        self.database.start()

    def postgresql_crashed(self) -> None:
        self.database.end(signal.SIGQUIT)
        time.sleep(2)
        self.database.start()

    def redis_emptied(self) -> None:
        redis_client.Redis(port=self.broker.port).flushall()

    def redis_killed(self) -> None:
        self.broker.kill()
        time.sleep(2)
        self.broker.start()

    def worker_killed(self) -> None:
        self.worker.kill()
        self.worker.start()

    def web_killed(self) -> None:
        self.web.kill()
        self.web.start()

    def clock_stepped_back(self) -> None:
        self.clock.step(-HOUR)

    def clock_stepped_back_while_no_worker_was_there(self) -> None:
        """And the messages are lost: only the database says what was to be done, at times that are yet to come."""
        self.worker.kill()
        self.redis_emptied()
        self.clock.step(-2 * HOUR)
        self.worker.start()

    def disk_full_during_an_export(self) -> None:
        """Work goes on meanwhile."""
        self.export = threading.Thread(target=lambda: self.export_problems.append(self.exported()))
        self.export.start()

    def exported(self) -> str:
        """Files of more than 20 kB cannot be written. Returns what is wrong with how the export ended."""
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        problems = []
        for ending in ("csv", "jsonl", "parquet"):
            path = out / f"labels.{ending}"
            said = self.manage(
                *("export", "--study", SLUG, "--format", ending, "-o", str(path)),
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK, SMALL_DISK)),
            )
            if ending == "parquet" and not said.returncode:  # packed, it may fit
                path.unlink()
                continue
            if said.returncode != 2 or "cannot be written" not in said.stderr or "Traceback" in said.stderr:
                problems.append(f"{ending}: exit {said.returncode}, {said.stderr.strip()[-200:]!r}")
            if left := [one.name for one in out.iterdir()]:
                problems.append(f"{ending}: left {', '.join(left)}")
        return "; ".join(problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=160)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two items of one person")
    given = parser.parse_args()
    if absent := missing():
        print(f"faults: not measured. There is no {absent} here.")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="concord-faults-"))
    site = Site(folder)
    try:
        return measure(given, site)
    finally:
        for machine in (site.worker, site.web, site.broker, site.database):
            machine.kill()
        shutil.rmtree(folder, ignore_errors=True)


def measure(given: argparse.Namespace, site: Site) -> int:
    site.database.start()
    site.broker.start()
    sys.path.insert(0, str(ROOT))
    wait_until(lambda: accepts(site), "a connection to the new cluster")
    made = made_study(items=given.items, people=given.people, overlap=OVERLAP, done=0)
    site.web.start()
    site.worker.start()
    run = begun(site)
    people = [Patient(pk, key, site.port, seeded(pk)) for pk, key in made.sessions.items()]
    for person in people:
        person.refused = Counter()
    began = time.monotonic()
    threads = [threading.Thread(target=rate_all, args=(person, given.think), daemon=True) for person in people]
    for thread in threads:
        thread.start()
    problems = broken_in_turn(site, people, given.items * OVERLAP)
    for thread in threads:
        thread.join(timeout=600)
    if any(thread.is_alive() for thread in threads):
        problems.append("people are still waiting")
    finished = "SELECT 1 FROM judging_judgerun WHERE id = %s AND finished_at IS NOT NULL"
    wait_until(lambda: bool(site.rows(finished, run)), "the end of the run", 300)
    problems += checked(site, people, given.items, run)
    saved = sum(len(one.saved) for one in people)
    refused = sum((one.refused for one in people), Counter[str]())
    seconds = time.monotonic() - began
    print(f"{saved:,} answers saved by {len(people)} people in {seconds:.0f} s; sent again after: {dict(refused)}")
    print(f"   {'; '.join(problems) or 'nothing lost, nothing doubled, nothing half done'}")
    return 1 if problems else 0


def accepts(site: Site) -> bool:
    try:
        return bool(site.rows("SELECT 1"))
    except psycopg.OperationalError:
        return False


def seeded(pk: int) -> Any:
    import random

    return random.Random(pk)  # noqa: S311


def begun(site: Site) -> int:
    words = ["judge", SLUG, "--judge", "slow", "--provider", "scripted", "--parameters", json.dumps(SLOW)]
    said = site.manage(*words, "--criteria", "personalization", "--no-wait", "--json")
    if said.returncode:
        raise SystemExit(f"bench: the run did not begin: {said.stderr}")
    return int(json.loads(said.stdout)["run"])


def rate_all(person: Patient, think: float) -> None:
    """Until the study has nothing more for them, also after others gave something back."""
    for _ in range(20):
        before = len(person.saved)
        person.work(time.monotonic() + 600, think, 0.5)
        if len(person.saved) == before:
            return


def broken_in_turn(site: Site, people: list[Patient], total: int) -> list[str]:
    faults: list[Callable[[], None]] = [
        site.postgresql_restarted,
        site.redis_emptied,
        site.clock_stepped_back,
        site.worker_killed,
        site.clock_stepped_back_while_no_worker_was_there,
        site.postgresql_crashed,
        site.disk_full_during_an_export,
        site.web_killed,
        site.redis_killed,
    ]
    for number, fault in enumerate(faults, start=1):
        share = number * total // (len(faults) + 2)
        wait_until(lambda share=share: sum(len(one.saved) for one in people) >= share, f"{share} saved answers", 400)  # type: ignore[misc]
        name = fault.__name__.replace("_", " ")
        judged = site.rows("SELECT count(*) FROM judging_judgment")[0][0]
        print(f"   after {sum(len(one.saved) for one in people)} answers and {judged} judgments: {name}", flush=True)
        fault()
    site.export.join()
    return [f"export without room: {one}" for one in site.export_problems if one]


def checked(site: Site, people: list[Patient], items: int, run: int) -> list[str]:
    """What was promised and is not so."""
    from django.db import connections

    from annotation.models import Annotation, Assignment

    connections.close_all()
    problems = [f"{n} × {what}" for one in people for what, n in one.problems.items()]
    wrong = 0
    for person in people:
        stored: dict[int, dict[str, str]] = {}
        mine = Annotation.objects.filter(assignment__annotator=person.pk, assignment__state="submitted")
        for slot, key, value in mine.values_list("assignment", "criterion__key", "value"):
            stored.setdefault(slot, {})[key] = value
        wrong += sum(stored.get(slot) != answers for slot, answers in person.saved.items())
    if wrong:
        problems.append(f"{wrong} answers lost or changed")
    submitted = Assignment.objects.filter(state="submitted").count()
    if submitted != items * OVERLAP or submitted != sum(len(one.saved) for one in people):
        problems.append(f"{submitted} of {items * OVERLAP} slots are handed in")
    judged = site.rows("SELECT count(*), count(DISTINCT item_id) FROM judging_judgment WHERE run_id = %s", run)[0]
    if judged != (items, items):
        problems.append(f"the run has {judged[0]} judgments of {items} items")
    said = site.manage("check_invariants")
    if said.returncode:
        problems.append(f"check_invariants: {said.stdout.strip()} {said.stderr.strip()}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
