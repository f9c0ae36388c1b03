"""How does Concord fare with 1,000,000 items, 5,000,000 labels and 10,000,000 judgments? On PostgreSQL.

    python scripts/bench_scale.py [--items 100000] [--only tiers,agreement] [--keep]

Fills a database of its own (`scaling/filling.py` says with what), and measures pages, API, commands and exports
through the code that serves them, each in a process of its own. A page should take less than a second of processor time
(cpu: of the process and of its database connection; a machine that does other things has longer seconds), and the
memory of an export should not depend on the size. BENCH_DATABASE_URL names the server. The database is dropped again;
with --keep it stays, and the next call uses it.
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("BENCH_DATABASE_URL") or "postgresql://root@127.0.0.1:5432/postgres"
PAGE_SECONDS = 1.0
WHOLE_SECONDS = 60.0
"""After which a proxy gives up on a page, also on one that somebody asked for though it reads a whole study."""

LIMIT = 900
DRAWN = ("tiers", "agreement", "quality", "progress", "calibration", "scores", "worth", "report")
"""Pages with charts, whose engine is started before the clock is."""

MOST = {"pages": PAGE_SECONDS, "api": PAGE_SECONDS, "work": PAGE_SECONDS, "whole": WHOLE_SECONDS}
"""Seconds of processor time that are too many, by kind."""

TOOLS = ("hf", "labelstudio", "argilla", "potato", "doccano")
Measured = tuple[str, str, Callable[[], dict[str, Any]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--only", default="", help="parts of names of what is measured, with commas between")
    parser.add_argument("--keep", action="store_true", help="leave the database, or use the one that was left")
    parser.add_argument("--slow", action="store_true", help="print the slowest statement of what takes over a second")
    given = parser.parse_args()
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"scale: not measured. PostgreSQL does not answer: {str(error).splitlines()[0]}")
        return 0
    name = f"concord_scale_{given.items}" if given.keep else f"concord_scale_{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix="concord-scale-"))
    there = made(name)
    try:
        prepare(name, folder)
        filled = fill_or_find(given.items, there=there)
    except BaseException:
        if not there:  # one that was kept is not this call's to drop, whatever is wrong with it
            drop(name)
        raise
    try:
        return measure(given, filled)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not given.keep:
            drop(name)


def made(name: str) -> bool:
    """Whether the database was there already."""
    with psycopg.connect(SERVER, autocommit=True) as server:
        if server.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
            return True
        server.execute(f'create database "{name}"')
    return False


def drop(name: str) -> None:
    from django.db import connections

    connections.close_all()
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f'drop database if exists "{name}" with (force)')


def prepare(name: str, folder: Path) -> None:
    os.environ |= {
        "CONCORD_DATA_DIR": str(folder),
        "CONCORD_BACKUP_KEY": base64.urlsafe_b64encode(bytes(32)).decode(),  # of a backup that is not kept
        "CONCORD_LOG_LEVEL": "ERROR",
        "DATABASE_URL": f"{SERVER.rsplit('/', 1)[0]}/{name}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)


def fill_or_find(items: int, *, there: bool) -> Any:
    from scaling import filling

    from annotation.studies.models.assignments import Assignment
    from annotation.studies.models.studies import Item, Study
    from judging.runs.models.runs import JudgeRun

    if not there:
        filled = filling.fill(items)
        print(f"filled in {filled.seconds:.0f} s", flush=True)
        return filled
    study = Study.objects.get(slug=filling.SLUG)
    labelled = Assignment.objects.filter(study=study, slot=1, state="submitted").count()
    run = JudgeRun.objects.filter(study=study).order_by("pk")[0]
    return filling.Filled(labelled, Item.objects.filter(study=study).count(), Study.objects.count(), run.pk, 0.0)


def measure(given: argparse.Namespace, filled: Any) -> int:
    from scaling.measuring import Cost, apart

    from core.accounts.models.users import User

    researcher, _ = User.objects.get_or_create(username="researcher", is_superuser=True, is_researcher=True)
    print(f"{filled.studies:,} studies; the large one has {filled.items:,} items, {filled.labelled:,} of them labelled")
    warm(researcher)
    print(f"{'':52} {'seconds':>8} {'cpu':>8} {'queries':>8} {'memory':>9} {'size':>9}")
    wanted = [part for part in given.only.split(",") if part]
    over, group = [], ""
    for kind, name, act in everything(researcher, filled):
        if wanted and not any(part in name for part in wanted):
            continue
        if kind != group:
            group = kind
            print(kind)
        cost: Cost = apart(act, LIMIT, draws=any(part in name for part in DRAWN))
        late = cost.processor > MOST.get(kind, LIMIT)
        mark = " <" if late else ""
        told = f"  {cost.problem}" if cost.problem else ""
        figures = f"{cost.seconds:8.2f} {cost.processor:8.2f} {cost.queries:8,} {cost.memory:6,.0f} MB"
        print(f"  {name:50} {figures} {cost.size / 1e6:6,.1f} MB{mark}{told}", flush=True)
        if given.slow and cost.processor > PAGE_SECONDS:
            print(f"      {cost.slowest[0]:.2f} s: {cost.slowest[1]}")
        if late or cost.problem:
            over.append(name)
    print(f"too long or failed: {'; '.join(over) or 'none'}")
    return 1 if over else 0


def everything(researcher: Any, filled: Any) -> Iterator[Measured]:
    """What can be measured, kind by kind."""
    from scaling import judging

    each = (*pages(researcher, filled), *judging.pages(researcher.pk, filled))
    yield from sorted(each, key=lambda one: ("pages", "api", "work").index(one[0]))
    yield from wholes(researcher)
    yield from commands(filled)
    yield from judging.commands(filled, called)
    yield from exports(researcher, filled)
    yield from judging.exports(researcher.pk, filled)


def warm(researcher: Any) -> None:
    """The code and templates are loaded here, once for all the processes that are forked from this one."""
    from scaling.measuring import page

    for path in ("", "items/", "adjudication/", "labels.parquet"):  # none that draws: its threads do not survive a fork
        page(researcher.pk, f"/studies/small-00000/{path}")()


def pages(researcher: Any, filled: Any) -> Iterator[Measured]:
    """Pages of researchers, pages of the API, and what an annotator waits for."""
    from scaling.filling import SLUG
    from scaling.measuring import page

    from annotation.corpus.models import Dialogue
    from annotation.studies.models.assignments import Assignment
    from annotation.studies.models.labels import Annotation
    from annotation.workbench.assignment_names import to_name
    from core.accounts.models.users import User

    study, deep = f"/studies/{SLUG}/", filled.items // 2
    last_page = -(-filled.items // 50)
    for name, path in (
        ("list of studies", "/studies/"),
        ("a small study", "/studies/small-00000/"),
        ("the large study", study),
        ("items, first page", f"{study}items/"),
        ("items, last page", f"{study}items/?page={last_page}"),
        ("items of one majority, deep", f"{study}items/?majority=2&page={last_page // 8}"),
        ("an item in the middle", f"{study}items/{deep}/"),
        ("an item in the middle of one majority", f"{study}items/{deep}/?majority=2"),
        ("tiers", f"{study}tiers/"),
        ("conflicts", f"{study}adjudication/"),
        ("an item to be decided", f"{study}adjudication/personalization/{deep}/"),
        ("gold", f"{study}gold/"),
        ("quality", f"{study}quality/"),
        ("progress", f"{study}progress/"),
        ("queue", f"{study}queue/"),
        ("files", f"{study}files/"),
        ("material", "/material/?kind=dialogues"),
        ("material, last page", f"/material/?kind=dialogues&page={-(-Dialogue.objects.count() // 50)}"),
        ("material, searched", "/material/?kind=dialogues&q=d77777"),
        ("search", "/search/?q=d77777"),
    ):
        yield "pages", name, page(researcher.pk, path)
    yield "pages", "agreement, computed", page(researcher.pk, f"{study}results/agreement/")
    yield "pages", "agreement, kept", page(researcher.pk, f"{study}results/agreement/")
    row = Annotation.objects.filter(assignment__study__slug=SLUG).order_by("-pk").values_list("pk", flat=True)[deep]
    api = "/api/v1"
    for name, path in (
        ("studies", f"{api}/studies"),
        ("the study", f"{api}/studies/{SLUG}"),
        ("progress of the study", f"{api}/studies/{SLUG}/progress"),
        ("items after the middle", f"{api}/studies/{SLUG}/items?after={deep}"),
        ("annotations after the middle", f"{api}/studies/{SLUG}/annotations?after={row}"),
        ("annotations of one person, deep", f"{api}/studies/{SLUG}/annotations?after={row}&rater=person03"),
        ("annotations that count, deep", f"{api}/studies/{SLUG}/annotations?after={row}&counting=true"),
        ("dialogues after the middle", f"{api}/dialogues?after={deep}"),
        ("disputes", f"{api}/studies/{SLUG}/disputes"),
        ("material", f"{api}/material"),
    ):
        yield "api", name, page(researcher.pk, path)
    who = User.objects.get(username="person03").pk
    done = to_name(Assignment.objects.filter(study__slug=SLUG, annotator=who).order_by("pk")[0].pk)
    for name, path, method in (
        ("my work", "/work/", "get"),
        ("next items, ahead", f"/work/{SLUG}/ahead/", "post"),
        ("a page that was handed in", f"/work/items/{done}/", "get"),
    ):
        yield "work", name, page(who, path, method)


def wholes(researcher: Any) -> Iterator[Measured]:
    """Pages that read every label of a study, for somebody who asks for it."""
    from scaling.filling import SLUG
    from scaling.measuring import page

    for name in ("agreement", "tiers", "gold", "quality", "adjudication"):
        yield "whole", f"{name}, whole", page(researcher.pk, f"/studies/{SLUG}/{name}/?whole=1")
    majority = f"/studies/{SLUG}/items/?majority=2&whole=1"
    yield "whole", "items of one majority, whole", page(researcher.pk, majority)


class Counting:
    """Takes what a command prints, and keeps how much it was."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, text: str) -> int:
        self.size += len(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def called(*words: str) -> Callable[[], dict[str, Any]]:
    """A command that prints what it found."""

    def act() -> dict[str, Any]:
        from django.core.management import call_command

        out = Counting()
        call_command(*words, stdout=out)
        return {"size": out.size}

    return act


def commands(filled: Any) -> Iterator[Measured]:  # noqa: ARG001
    from scaling.filling import SLUG

    yield "commands", "agreement", called("agreement", "--study", SLUG, "--json", "--seed", "2")
    yield "commands", "tiers", called("tiers", "--study", SLUG, "--json")
    yield "commands", "gold", called("gold", "--study", SLUG, "--json")
    yield "commands", "disputes", called("disputes", "--study", SLUG, "--json")
    yield "commands", "quality", called("quality", "--study", SLUG, "--json")
    yield "commands", "check_invariants", called("check_invariants")


def exports(researcher: Any, filled: Any) -> Iterator[Measured]:
    from scaling.filling import OVERLAP, REPEATS, SLUG
    from scaling.measuring import page

    rows = filled.labelled * (OVERLAP + 5 * REPEATS)
    for ending in ("csv", "jsonl", "parquet"):
        yield "exports", f"labels.{ending}, {rows:,} rows", page(researcher.pk, f"/studies/{SLUG}/labels.{ending}")
    for tool in TOOLS:
        yield "exports", f"files for {tool}", page(researcher.pk, f"/studies/{SLUG}/files/{tool}.zip")
    yield "exports", "labels.csv of a small study", page(researcher.pk, "/studies/small-00000/labels.csv")


if __name__ == "__main__":
    sys.exit(main())
