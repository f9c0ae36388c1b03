"""How long do the results of a large experiment take, first and after that?

    python scripts/bench_results.py [--users 50] [--tasks 80] [--conditions 6] [--assistants 1] [--keep FOLDER]

Fills a database of its own with users x tasks x conditions x assistants dialogues of eleven messages at most and a
judge's verdicts on six criteria, then measures the results as a worker computes them first, and page, files, a plot
and a filter after that. Exits 1 where the first takes more than 60 seconds of processor time, or another more than 1.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST, LATER = 60.0, 1.0
PUBLISHED = ["base", "vanilla", "base+D", "base+I", "base+S", "base+all"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("users", 50), ("tasks", 80), ("conditions", 6), ("assistants", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--keep", default="", metavar="FOLDER", help="where the filled database stays for the next call")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concord-results-") as folder:
        return measure(given, Path(given.keep or folder))


def measure(given: argparse.Namespace, folder: Path) -> int:
    folder.mkdir(exist_ok=True)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "CONCORD_DATA_DIR": str(folder), "DATABASE_URL": ""}
    os.environ["CELERY_BROKER_URL"] = ""
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True)
    import django

    django.setup()
    from django.core.cache import cache
    from django.test import Client

    from simulation.models import Experiment
    from tests.factories import ResearcherFactory
    from tests.simulation.synthetic import synthetic

    if not Experiment.objects.exists():
        started = time.monotonic()
        synthetic(
            users=given.users,
            tasks=given.tasks,
            conditions=PUBLISHED[: given.conditions],
            assistants=given.assistants,
            turns_judged=True,
        )
        ResearcherFactory(username="rosa")
        print(f"filled in {time.monotonic() - started:.0f} s")
    cache.clear()
    experiment = Experiment.objects.get()
    print(f"{experiment.dialogues.count():,} dialogues")
    return report(experiment, Client(raise_request_exception=True))
