"""Sixty annotators at once, over HTTP: nothing lost, nothing rated too often, and how long "save and next" takes.

    python scripts/bench_annotate.py                        # SQLite, and PostgreSQL where it answers
    python scripts/bench_annotate.py --database sqlite --items 100000 --seconds 30 --done 5000
    python scripts/bench_annotate.py --load                 # 200 people, 100,000 items, 300 s, PostgreSQL and Redis

The web server runs as `config/supervisord.conf` starts it. Each virtual annotator is signed in beforehand and does what
the rating page does: it hands an item in, gets the item after the next in the same answer, and "reads" for a moment.
BENCH_DATABASE_URL names another PostgreSQL server; a database of its own is made there and dropped again.

With --load, BENCH_BROKER_URL names the Redis. Each person thinks for 4 s on average, half as long to half as long
again, so that 200 of them offer 50 items a second at most. At the end `check_invariants` looks at the whole database.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
from annotating.people import Worked, rated
from annotating.server import ROOT, Meter, running_server
from annotating.study import made_study

SERVER = os.environ.get("BENCH_DATABASE_URL") or "postgresql://root@127.0.0.1:5432/postgres"
LIMITS = {"sqlite": 0.150, "postgresql": 0.100}
FEWEST = 50  # items that are saved in a second
LOAD = ["--database", "postgresql", "--items", "100000", "--people", "200", "--seconds", "300", "--think", "4"]
REDIS = os.environ.get("BENCH_BROKER_URL") or "redis://127.0.0.1:6379/8"


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
    parser.add_argument("--load", action="store_true", help="200 people for 300 s; numbers that are given hold")
    given = parser.parse_args()
    if given.load:
        given = parser.parse_args([*LOAD, *sys.argv[1:]])
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
        if given.load:
            environment["CELERY_BROKER_URL"] = REDIS
        os.environ.update(environment)
        sys.path.insert(0, str(ROOT))
        made = made_study(items=given.items, people=given.people, overlap=given.overlap, done=given.done)
        with running_server(folder) as server, Meter(server.process.pid, name) as meter:
            worked = rated(given, made, server.port, meter)
        return report(given, worked, checked(given, worked))
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


# ---------- what came of it ----------


def checked(given: argparse.Namespace, worked: Worked) -> list[str]:
    """What was promised and is not so in the database."""
    from django.db.models import Count

    from annotation.studies.models.assignments import Assignment
    from annotation.studies.models.labels import Annotation
    from config.invariants import findings

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
    if given.load:
        problems += [f"{one.n} times not so: {one.invariant}" for one in findings()]
    return problems


def percentile(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def line(name: str, seconds: list[float]) -> str:
    p50, p95, p99 = (percentile(seconds, share) for share in (0.5, 0.95, 0.99))
    return f"   {name:<34} n {len(seconds):>6,}   p50 {p50:6.1f}   p95 {p95:6.1f}   p99 {p99:6.1f} ms"


def processor_line(worked: Worked, items: int) -> str:
    """What an item costs, drafts included: it depends less on what else the machine does than the times above."""
    each = ", ".join(f"{kind} {1000 * seconds / max(items, 1):.1f}" for kind, seconds in sorted(worked.used.items()))
    return f"   processor time per saved item (ms): {each}; load of the machine {os.getloadavg()[0]:.1f}"


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
    print(processor_line(worked, len(seconds)))
    print(f"   {'; '.join(problems) or 'no item rated too often or twice by one person, no label lost, no error'}")
    slow = percentile(seconds, 0.95) > 1000 * LIMITS[given.database]
    if slow:
        print(f"   MISSED: p95 is above {1000 * LIMITS[given.database]:.0f} ms")
    offered = given.people / given.think  # few people cannot save more than they read
    print(f"   offered: {given.people} people who think for {given.think:g} s: {offered:.1f} items/s at most")
    if few := per_second < min(FEWEST, 0.8 * offered):
        print(f"   MISSED: fewer than {min(FEWEST, 0.8 * offered):.0f} items a second")
    return 1 if problems or slow or few else 0


if __name__ == "__main__":
    sys.exit(main())
