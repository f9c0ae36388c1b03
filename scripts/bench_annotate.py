"""Sixty annotators at once, over HTTP: nothing lost, nothing rated too often, and how long "save and next" takes.

    python scripts/bench_annotate.py                        # SQLite, and PostgreSQL where it answers
    python scripts/bench_annotate.py --database sqlite --items 100000 --seconds 30 --done 5000

The web server runs as `config/supervisord.conf` starts it. Each virtual annotator is signed in beforehand and does what
the rating page does: it hands an item in, gets the item after the next in the same answer, and "reads" for a moment.
BENCH_DATABASE_URL names another PostgreSQL server; a database of its own is made there and dropped again.
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import random
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("BENCH_DATABASE_URL") or "postgresql://root@127.0.0.1:5432/postgres"
TOKEN = "b" * 32
LIMITS = {"sqlite": 0.150, "postgresql": 0.100}
SLUG = "bench"
CRITERIA = (
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
)
BATCH = 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=LIMITS, help="this one alone")
    parser.add_argument("--items", type=int, help="in the study; without it both 500 and 100,000 are measured")
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--overlap", type=int, default=3)
    parser.add_argument("--done", type=int, default=0, help="items that a tenth of the people have done before")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which no more items are begun")
    parser.add_argument("--think", type=float, default=0.95, help="seconds between two items of one person, on average")
    parser.add_argument("--drafts", type=float, default=0.5, help="drafts that are saved for an item, on average")
    given = parser.parse_args()
    return measure(given) if given.database and given.items else everything(given)


def everything(given: argparse.Namespace) -> int:
    """Both databases, a small study and a large one with people who have done 5,000 items, each in a new process."""
    databases = [given.database] if given.database else list(LIMITS)
    sizes = [(given.items, given.done)] if given.items else [(500, 0), (100_000, 5000)]
    failed = 0
    for database in databases:
        if database == "postgresql" and (problem := postgres_problem()):
            print(f"postgresql: not measured. {problem}")
            continue
        for items, done in sizes:
            extra = ["--database", database, "--items", str(items), "--done", str(done)]
            failed += subprocess.run([sys.executable, __file__, *sys.argv[1:], *extra], check=False).returncode
    return 1 if failed else 0


def postgres_problem() -> str:
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"PostgreSQL does not answer: {str(error).splitlines()[0]}"
    return ""


def measure(given: argparse.Namespace) -> int:
    """One study on one database, in this process. Returns 1 where a promise was broken or a limit missed."""
    folder = Path(tempfile.mkdtemp(prefix="concord-bench-"))
    name = f"concord_bench_{os.getpid()}"
    try:
        environment = prepared_environment(given.database, folder, name)
        os.environ.update(environment)
        made = made_study(given)
        with running_server(folder) as port:
            people = rated(given, made, port)
        return report(given, people, checked(given, people))
    finally:
        clean_up(given.database, folder, name)


def prepared_environment(database: str, folder: Path, name: str) -> dict[str, str]:
    url = ""
    if database == "postgresql":
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f'create database "{name}"')
        url = f"{SERVER.rsplit('/', 1)[0]}/{name}"
    return {
        "CONCORD_DATA_DIR": str(folder),
        "CONCORD_LOG_LEVEL": "WARNING",
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


def clean_up(database: str, folder: Path, name: str) -> None:
    if database == "postgresql":
        from django.db import connections

        connections.close_all()
        with psycopg.connect(SERVER, autocommit=True) as server:
            server.execute(f'drop database if exists "{name}" with (force)')
    shutil.rmtree(folder, ignore_errors=True)


# ---------- the study ----------


@dataclass(frozen=True)
class Made:
    """Whom to be: session key by user id; and who has done many items before."""

    sessions: dict[int, str]
    veterans: frozenset[int]


def made_study(given: argparse.Namespace) -> Made:
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.models import User
    from annotation.services import assignments, samples, studies

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    make_dialogues(given.items)
    study = studies.create(by=None, name=SLUG, kind="dialogue", criteria=CRITERIA, overlap=given.overlap, seed=1)
    samples.draw(by=None, study=study)
    people = User.objects.bulk_create([User(username=f"person{n}") for n in range(given.people)])
    assignments.add_annotators(by=None, study=study, annotators=people)
    began = time.perf_counter()
    slots = studies.open(by=None, study=study)
    print(f"   {slots:,} slots opened in {time.perf_counter() - began:.1f} s")
    veterans = people[: max(1, given.people // 10)] if given.done else []
    for number, person in enumerate(veterans):
        do_before(study, person, given.done, slot=1 + number % given.overlap, batch=number // given.overlap)
    analyze()
    return Made({person.pk: session_of(person) for person in people}, frozenset(one.pk for one in veterans))


def make_dialogues(number: int) -> None:
    from annotation.models import Dialogue, Profile, Scenario, Task

    profile = Profile.objects.create(
        source="bench",
        external_id="p",
        content_hash="0" * 64,
        name="Maren",
        preferences={"Restaurants": {"Cuisine": ["Thai", "Vietnamese"], "Price": "moderate"}},
        interactions={"Restaurants": "Booked four times, always for two."},
    )
    task = Task.objects.create(
        source="bench",
        external_id="t",
        content_hash="0" * 64,
        description="A table for two.",
        goal="A table is booked.",
        domains=["Restaurants"],
    )
    scenario = Scenario.objects.create(profile=profile, task=task, situation={"Location": "Oslo"})
    turns = [{"role": ("user", "assistant")[n % 2], "content": "I would like a table for two. " * 6} for n in range(10)]
    for start in range(0, number, BATCH):
        Dialogue.objects.bulk_create(
            Dialogue(source="bench", external_id=f"d{n}", content_hash=f"{n:064x}", scenario=scenario, turns=turns)
            for n in range(start, min(start + BATCH, number))
        )


def do_before(study: Any, person: Any, done: int, *, slot: int, batch: int) -> None:
    """Submit a stretch of the queue's beginning for somebody, as if long ago."""
    from django.utils import timezone

    from annotation.models import Annotation

    long_ago = timezone.now() - timedelta(days=7)
    ranks = range(batch * done + 1, (batch + 1) * done + 1)
    mine = list(study.assignments.filter(slot=slot, rank__in=ranks).order_by("rank"))
    for place, one in enumerate(mine):
        one.annotator, one.state = person, "submitted"
        one.started_at = one.submitted_at = long_ago + timedelta(seconds=place)
    for start in range(0, len(mine), BATCH):
        part = mine[start : start + BATCH]
        type(part[0]).objects.bulk_update(part, ["annotator", "state", "started_at", "submitted_at"], batch_size=200)
        Annotation.objects.bulk_create(
            Annotation(assignment=one, criterion=criterion, value=criterion.values[0])
            for one in part
            for criterion in study.criteria.all()
        )


def analyze() -> None:
    """What a database does by itself after a while."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("analyze")


def session_of(person: Any) -> str:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return str(session.session_key)


# ---------- the server ----------


class running_server:  # noqa: N801
    """The web program of supervisord.conf on a free port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        config = configparser.RawConfigParser(inline_comment_prefixes=(";",))
        config.read(ROOT / "config" / "supervisord.conf")
        command = config["program:web"]["command"]
        command = command.replace("%(ENV_CONCORD_PYTHON)s", sys.executable)
        command = command.replace("%(ENV_CONCORD_BIND)s", f"127.0.0.1:{port}")
        self.log = (self.folder / "web.log").open("w")
        self.process = subprocess.Popen(shlex.split(command), cwd=ROOT, stdout=self.log, stderr=self.log)
        wait_for(port)
        return port

    def __exit__(self, *problem: object) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"   web server: {used.ru_utime + used.ru_stime:.1f} s of processor time; load {os.getloadavg()[0]:.1f}")


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("bench: the web server does not answer")


# ---------- the people ----------


@dataclass
class Person:
    """One virtual annotator, and what was promised to them."""

    pk: int
    session: str
    port: int
    rng: random.Random
    saved: dict[int, dict[str, str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    draft_seconds: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    connection: HTTPConnection | None = None

    def post(self, path: str, data: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Cookie": f"sessionid={self.session}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            self.connection.request("POST", path, urlencode(data), headers)
            answer = self.connection.getresponse()
            body = answer.read()
        except (ConnectionError, OSError, RuntimeError):  # the server closed an idle connection: as a browser does
            self.connection.close()
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.request("POST", path, urlencode(data), headers)
            answer = self.connection.getresponse()
            body = answer.read()
        if answer.status != 200:
            self.problems[f"{answer.status} {path.rstrip('/').rsplit('/', 1)[-1]}"] += 1
            return answer.status, {}
        return answer.status, json.loads(body)

    def work(self, until: float, think: float, drafts: float) -> None:
        time.sleep(self.rng.uniform(0, think))
        item = self.post(f"/work/{SLUG}/ahead/", {})[1].get("next")
        ready = item and self.post(f"/work/{SLUG}/ahead/", {"holding": str(item["pk"])})[1].get("next")
        while item and time.monotonic() < until:
            time.sleep(self.rng.uniform(0.5 * think, 1.5 * think))
            answers = {key: self.rng.choice("123" if key != CRITERIA[0] else ["yes", "no"]) for key in CRITERIA}
            if self.rng.random() < drafts:
                self.draft(item, answers)
            ready_next = self.hand_in(item, answers, ready)
            item, ready = (ready, ready_next) if ready else (ready_next, None)

    def draft(self, item: dict[str, Any], answers: dict[str, str]) -> None:
        began = time.perf_counter()
        first = dict(list(answers.items())[:3])
        self.post(f"/work/items/{item['pk']}/draft/", {**first, "seen": item["seen"], "active": "1.5"})
        self.draft_seconds.append(time.perf_counter() - began)

    def hand_in(self, item: dict[str, Any], answers: dict[str, str], ready: dict[str, Any] | None) -> Any:
        began = time.perf_counter()
        holding = str(ready["pk"]) if ready else ""
        data = {**answers, "seen": item["seen"], "active": "2.5", "holding": holding}
        status, told = self.post(f"/work/items/{item['pk']}/save/", data)
        self.seconds.append(time.perf_counter() - began)
        if status == 200:
            self.saved[item["pk"]] = answers
        return told.get("next")


@dataclass(frozen=True)
class Worked:
    people: list[Person]
    veterans: frozenset[int]
    seconds: float


def rated(given: argparse.Namespace, made: Made, port: int) -> Worked:
    people = [Person(pk, key, port, random.Random(pk)) for pk, key in made.sessions.items()]  # noqa: S311
    for person in people[:16]:  # every worker has loaded its code and its templates
        person.post(f"/work/{SLUG}/ahead/", {})
    began = time.monotonic()
    threads = [
        threading.Thread(target=person.work, args=(began + given.seconds, given.think, given.drafts))
        for person in people
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Worked(people, made.veterans, time.monotonic() - began)


# ---------- what came of it ----------


def checked(given: argparse.Namespace, worked: Worked) -> list[str]:
    """What was promised and is not so in the database."""
    from django.db.models import Count

    from annotation.models import Annotation, Assignment

    problems = [f"{n} × {what}" for one in worked.people for what, n in one.problems.items()]
    submitted = Assignment.objects.filter(state="submitted")
    too_many = submitted.values("item").annotate(n=Count("pk")).filter(n__gt=given.overlap).count()
    twice = submitted.values("item", "annotator").annotate(n=Count("pk")).filter(n__gt=1).count()
    lost = 0
    for person in worked.people:
        stored: dict[int, dict[str, str]] = {}
        mine = Annotation.objects.filter(assignment__annotator=person.pk, assignment__state="submitted")
        recent = mine.filter(assignment__in=list(person.saved)) if len(person.saved) < 900 else mine
        for slot, key, value in recent.values_list("assignment", "criterion__key", "value"):
            stored.setdefault(slot, {})[key] = value
        lost += sum(stored.get(slot) != answers for slot, answers in person.saved.items())
    for number, what in ((too_many, "rated too often"), (twice, "twice by one person"), (lost, "labels lost")):
        if number:
            problems.append(f"{number} items {what}")
    return problems


def percentile(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def line(name: str, seconds: list[float]) -> str:
    p50, p95, p99 = (percentile(seconds, share) for share in (0.5, 0.95, 0.99))
    return f"   {name:<34} n {len(seconds):>6,}   p50 {p50:6.1f}   p95 {p95:6.1f}   p99 {p99:6.1f} ms"


def report(given: argparse.Namespace, worked: Worked, problems: list[str]) -> int:
    seconds = [one for person in worked.people for one in person.seconds]
    per_second = len(seconds) / worked.seconds
    veterans = [one for person in worked.people if person.pk in worked.veterans for one in person.seconds]
    print(
        f"{given.database}: {given.people} annotators, {given.items:,} items x {given.overlap}: "
        f"{len(seconds):,} items in {worked.seconds:.1f} s = {per_second:.1f} saved items/s"
    )
    print(line("save and next", seconds))
    if veterans:
        print(line(f"  of those who had done {given.done:,}", veterans))
    print(line("draft", [one for person in worked.people for one in person.draft_seconds]))
    print(f"   {'; '.join(problems) or 'no item rated too often or twice by one person, no label lost, no error'}")
    slow = percentile(seconds, 0.95) > 1000 * LIMITS[given.database]
    if slow:
        print(f"   MISSED: p95 is above {1000 * LIMITS[given.database]:.0f} ms")
    return 1 if problems or slow else 0


if __name__ == "__main__":
    sys.exit(main())
