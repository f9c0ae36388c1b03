"""What is lost where things break in the middle of work? Nothing may be, nor be doubled or half done.

    python scripts/bench_faults.py [--items 160] [--people 6]
    python scripts/bench_faults.py --kill-every 5 12 20 [--embedded]

On a PostgreSQL cluster and a Redis of its own, people rate over HTTP and a judge is at work, while one thing after the
other breaks: PostgreSQL is restarted and crashes, Redis is emptied and killed, the worker and the web server are
killed, the clock is set back by an hour and once more while no worker is there, an export runs out of disk. Each breaks
when a further part of the work is done. What a virtual annotator could not hand in is sent again, as the script of the
page does. At the end every answer that the site said it had saved must be there as it was given, the study and the run
complete, and `check_invariants` must find nothing. The clock is that of a library which is loaded before the C library
(`annotating/machines.py`).

With --kill-every, worker and web server are killed every so many seconds instead, while people rate, a judge is at work
and a simulation is played; the queue is emptied in between. Then a backup, an archive, an export and a migration are
killed. --embedded does so on SQLite and the broker in files.
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
import sqlite3
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
from annotating import repeated_kills
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

    def another_database(self) -> tuple[dict[str, str], Callable[[], int]]:
        """The environment of an empty database, and how many migrations are applied there."""
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute("CREATE DATABASE another")
        url = self.environment["DATABASE_URL"].removesuffix("postgres") + "another"

        def applied() -> int:
            with psycopg.connect(url, autocommit=True) as connection:
                there = connection.execute("SELECT to_regclass('django_migrations')").fetchone()
                found = connection.execute("SELECT count(*) FROM django_migrations").fetchone() if there[0] else None  # type: ignore[index]
                return int(found[0]) if found else 0

        return {"DATABASE_URL": url}, applied

    def queue_emptied(self) -> None:
        self.redis_emptied()

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


class Embedded(Site):
    """SQLite and the broker in files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.export_problems = folder, free_port(), []
        self.environment = {
            "CONCORD_DATA_DIR": str(folder / "data"),
            "CONCORD_LOG_LEVEL": "WARNING",
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        os.environ.update(self.environment)
        self.web = Machine("web", self.program("web"), folder, port=self.port, cwd=ROOT)
        self.worker = Machine("worker", self.program("worker"), folder, cwd=ROOT)

    def another_database(self) -> tuple[dict[str, str], Callable[[], int]]:
        data = self.folder / "another"

        def applied() -> int:
            try:
                connection = sqlite3.connect(f"file:{data / 'concord.sqlite3'}?mode=ro", uri=True, timeout=30)
                found = connection.execute("SELECT count(*) FROM django_migrations").fetchone()
                connection.close()
            except sqlite3.OperationalError:
                return 0
            return int(found[0])

        return {"CONCORD_DATA_DIR": str(data)}, applied

    def queue_emptied(self) -> None:
        for message in (self.folder / "data" / "broker" / "queue").iterdir():
            message.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=160)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two items of one person")
    parser.add_argument("--kill-every", type=float, nargs="+", metavar="SECONDS", help="kill worker and web server")
    parser.add_argument("--embedded", action="store_true", help="with --kill-every: SQLite and the broker in files")
    given = parser.parse_args()
    if given.request_vectors and given.kill_every:
        return with_site(Embedded, lambda site: measure_kills(given, site))
    if absent := missing():
        print(f"faults: not measured. There is no {absent} here.")
        return 0
    return with_site(Site, lambda site: (measure_kills if given.kill_every else measure)(given, site))


def with_site(kind: type[Site], act: Callable[[Site], int]) -> int:
    folder = Path(tempfile.mkdtemp(prefix="concord-faults-"))
    site = kind(folder)
    sys.path.insert(0, str(ROOT))
    try:
        for machine in machines(site)[2:]:
            machine.start()
        if not isinstance(site, Embedded):
            wait_until(lambda: accepts(site), "a connection to the new cluster")
        return act(site)
    finally:
        for machine in machines(site):
            machine.kill()
        shutil.rmtree(folder, ignore_errors=True)


def machines(site: Site) -> list[Machine]:
    return [site.worker, site.web, *([] if isinstance(site, Embedded) else [site.database, site.broker])]


def measure_kills(given: argparse.Namespace, site: Site) -> int:
    """A third of the items for each period, each with new work of a judge and of a simulation."""
    made = made_study(items=given.items, people=given.people, overlap=OVERLAP, done=0)
    people = [Patient(pk, key, site.port, seeded(pk)) for pk, key in made.sessions.items()]
    problems: list[str] = []
    site.web.start()
    site.worker.start()
    for person in people:
        person.refused = Counter()
    for number, every in enumerate(given.kill_every, start=1):
        goal = given.items * OVERLAP * number // len(given.kill_every)
        work = repeated_kills.Work(site, number)
        is_over = threading.Event()
        threads = [threading.Thread(target=rate_until, args=(one, given.think, is_over), daemon=True) for one in people]
        for thread in threads:
            thread.start()
        done = lambda goal=goal: sum(len(one.saved) for one in people) >= goal  # noqa: E731
        seconds, kills, stuck = repeated_kills.killed_until_done(site, work, done, every)
        is_over.set()
        for thread in threads:
            thread.join(timeout=300)
        found = [*stuck, *work.problems(given.items)]
        saved = sum(len(one.saved) for one in people)
        print(
            f"killed every {every:g} s: done after {seconds:.0f} s and {kills} kills, {saved} answers saved", flush=True
        )
        problems += [f"every {every:g} s: {one}" for one in found]
    site.worker.kill()
    problems += repeated_kills.files(site) + repeated_kills.migrations(site)
    problems += kept(site, people)
    refused = sum((one.refused for one in people), Counter[str]())
    print(f"sent again after: {dict(refused)}")
    print(f"   {'; '.join(problems) or 'nothing lost, nothing doubled, nothing stuck'}")
    return 1 if problems else 0


def rate_until(person: Patient, think: float, is_over: threading.Event) -> None:
    while not is_over.is_set():
        before = len(person.saved)
        person.work(time.monotonic() + 5, think, 0.5)
        if len(person.saved) == before:
            is_over.wait(1)


def measure(given: argparse.Namespace, site: Site) -> int:
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


def kept(site: Site, people: list[Patient]) -> list[str]:
    """Answers that were said to be saved and are not there as they were given, and what else does not hold."""
    from django.db import connections

    from annotation.studies.models.labels import Annotation

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
    said = site.manage("check_invariants")
    if said.returncode:
        problems.append(f"check_invariants: {said.stdout.strip()} {said.stderr.strip()}")
    return problems


def checked(site: Site, people: list[Patient], items: int, run: int) -> list[str]:
    """What was promised and is not so."""
    from annotation.studies.models.assignments import Assignment

    problems = kept(site, people)
    submitted = Assignment.objects.filter(state="submitted").count()
    if submitted != items * OVERLAP or submitted != sum(len(one.saved) for one in people):
        problems.append(f"{submitted} of {items * OVERLAP} slots are handed in")
    judged = site.rows("SELECT count(*), count(DISTINCT item_id) FROM judging_judgment WHERE run_id = %s", run)[0]
    if judged != (items, items):
        problems.append(f"the run has {judged[0]} judgments of {items} items")
    return problems


if __name__ == "__main__":
    sys.exit(main())
