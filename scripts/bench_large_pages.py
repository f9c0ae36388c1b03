"""How long does the first request of each page of a large study take? 5,000 items, 3 annotators, 4 criteria, 3 judges.

    python scripts/bench_large_pages.py [--items 5000] [--limit 1.0]

The study is that of `bench_report.py`; its labels are simulated. A worker's task computes the results first, in a
process of its own. Then one process, which has loaded what the web server loads before it forks and has shown the list
of studies, opens each page once: processor seconds of the process and its helper, and seconds by the clock. Exits 1
where a page takes more than the limit of processor time.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bench_report
import numpy as np
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import URLPattern, reverse

from annotation import urls as annotation_urls
from annotation.studies.models.studies import Study
from config import gunicorn
from core.accounts.models.users import User
from judging import urls as judging_urls
from judging.assessment.services import refresh
from judging.runs.models.runs import JudgeRun

SLUG = "bench"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Took:
    """One page: its address, processor seconds and seconds by the clock."""

    page: str
    processor: float
    clock: float


def make() -> None:
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    rng = np.random.default_rng(0)
    truth = rng.normal(3, 1, (bench_report.ITEMS, bench_report.CRITERIA))
    made = bench_report.study(rng, [bench_report.STEPS] * bench_report.CRITERIA)
    bench_report.label(made, truth, rng, bench_report.ITEMS)
    bench_report.judge(made, truth, rng)
    User.objects.create_superuser("rosa", is_researcher=True)


def list_pages(study: Study) -> Iterator[str]:
    """The study's pages, those of its first judge and of that judge's run."""
    run = JudgeRun.objects.filter(study=study).earliest("pk")
    begins = {"studies/<study:slug>/results/<judge:pk>": run.judge_id, "runs/<run:pk>": run.pk, "studies/": 0}
    every = [*annotation_urls.urlpatterns, *judging_urls.urlpatterns]
    for pattern in (one for one in every if isinstance(one, URLPattern)):
        names, route = set(pattern.pattern.converters), str(pattern.pattern)
        given = next((pk for start, pk in begins.items() if route.startswith(start)), None)
        known = {"slug": study.slug, "pk": given}
        if pattern.name and given is not None and names <= ({"slug", "pk"} if given else {"slug"}):
            yield reverse(pattern.name, kwargs={name: known[name] for name in names})
    yield reverse("criterion_verdict", args=[study.slug, run.judge_id, "c1"])
    yield reverse("item_detail", args=[study.slug, 1])


def used() -> float:
    """Processor seconds of this process and of those it started that still run, such as the one that draws charts."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    told = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in children]
    spent = sum(int(ticks) for one in told for ticks in one[11:13])
    return own.ru_utime + own.ru_stime + spent / TICKS


def look() -> Iterator[Took]:
    client = Client()
    client.force_login(User.objects.get(username="rosa"))
    client.get(reverse("study_list"))
    for page in list_pages(Study.objects.get(slug=SLUG)):
        processor, clock = used(), time.perf_counter()
        answer = client.get(page)
        if answer.status_code == 200 and "text/html" in answer.headers["Content-Type"]:
            yield Took(page, used() - processor, time.perf_counter() - clock)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=bench_report.ITEMS)
    parser.add_argument("--limit", type=float, default=1.0, help="processor seconds")
    given = parser.parse_args()
    bench_report.ITEMS = given.items
    settings.ALLOWED_HOSTS = ["testserver"]
    logging.disable(logging.WARNING)  # some addresses take no GET
    make()
    connection.close()
    begun = time.perf_counter()
    if not (worker := os.fork()):
        refresh.compute_study(Study.objects.get(slug=SLUG))
        os._exit(0)  # what the other process put up is not this one's to take down
    if os.waitpid(worker, 0)[1]:
        return 1
    print(f"a worker computed the results in {time.perf_counter() - begun:.0f} s")
    gunicorn.when_ready(None)
    slow = 0
    for took in sorted(look(), key=lambda one: -one.processor):
        slow += took.processor > given.limit
        print(f"{took.processor:6.2f} s processor {took.clock:6.2f} s clock  {took.page}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
