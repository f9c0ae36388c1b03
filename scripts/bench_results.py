"""How long do the results of a large experiment take, and does the whole way to them give what it should?

    python scripts/bench_results.py [results] [--users 50] [--tasks 82] [--conditions 6] [--keep FOLDER]
    python scripts/bench_results.py flow [--users 30] [--tasks 11] [--conditions 6] [--assistants 2]
    python scripts/bench_results.py plan

results  fills a database of its own with users x tasks x conditions x assistants dialogues of eleven messages at most
         and a judge's verdicts, and measures the results as a worker makes them first, then page, files, a chart and
         the API, in processor time. Exits 1 where the first takes more than 60 seconds, or another more than 1.
flow     plays and judges an experiment with a server that answers by script, lets three people rate a sample by script,
         and holds every number of every table and figure to a calculation in plain Python. Exits 1 where one differs.
plan     plans and estimates one experiment of 122,133 scenarios, and writes its rows. Exits 1 above 60 seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIRST, LATER = 60.0, 1.0
"""Seconds of processor time that are too many."""

PUBLISHED = ["base", "vanilla", "base+D", "base+I", "base+S", "base+all"]
SIZES = {"results": (50, 82, 6, 1), "flow": (30, 11, 6, 2), "plan": (1101, 111, 1, 1)}
SCENARIOS = 122_133
PEOPLE_RATE = 100
"""Dialogues of the human check."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=list(SIZES), default="results")
    for name in ("users", "tasks", "conditions", "assistants"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--keep", default="", metavar="FOLDER", help="where the database stays for the next call")
    given = parser.parse_args()
    for name, usual in zip(("users", "tasks", "conditions", "assistants"), SIZES[given.what], strict=True):
        setattr(given, name, getattr(given, name) or usual)
    with tempfile.TemporaryDirectory(prefix="concord-results-") as folder:
        prepare(Path(given.keep or folder))
        found: int = {"results": results, "flow": flow, "plan": plan}[given.what](given)
        return found


def prepare(folder: Path) -> None:
    """A site of its own in the folder."""
    folder.mkdir(mode=0o700, exist_ok=True)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "CONCORD_DATA_DIR": str(folder), "DATABASE_URL": ""}
    os.environ["CELERY_BROKER_URL"] = ""
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    for command in (["migrate"], ["collectstatic", "--noinput"]):
        subprocess.run([sys.executable, "manage.py", *command, "-v0"], check=True)
    import django

    django.setup()


def timed(name: str, do: Callable[[], Any], most: float) -> tuple[Any, bool]:
    """What it returns, and whether it took no longer than it may."""
    began, wall = time.process_time(), time.monotonic()
    found = do()
    cpu = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{name}: {cpu:.2f} s of processor time, {time.monotonic() - wall:.2f} s on the clock, {memory} MB", flush=True
    )
    return found, cpu <= most


def results(given: argparse.Namespace) -> int:
    from django.core.cache import cache
    from django.test import Client
    from django.urls import reverse

    from annotation.agreement.options import IntervalOptions as Options
    from simulation.experiments.models import DialogueMeasures, Experiment
    from simulation.results.queries.judgments import list_experiment_judges
    from simulation.results.services.data import Filters
    from simulation.results.services.results import load_or_compute
    from tests.support.factories import ResearcherFactory
    from tests.support.synthetic import synthetic

    if not Experiment.objects.exists():
        size = {"users": given.users, "tasks": given.tasks, "assistants": given.assistants}
        synthetic(**size, conditions=PUBLISHED[: given.conditions], turns_judged=True)
        ResearcherFactory(username="rosa")
    cache.clear()
    DialogueMeasures.objects.all().delete()
    experiment = Experiment.objects.get()
    judge = list_experiment_judges(experiment)[0][0]
    print(f"{experiment.dialogues.count():,} dialogues")
    _, good = timed("first", lambda: load_or_compute(experiment, judge, Options(), Filters(), patient=True), FIRST)
    client = Client(raise_request_exception=True)
    from core.accounts.models.users import User

    client.force_login(User.objects.get(username="rosa"))
    page = reverse("experiment_results", args=[experiment.pk])
    timed("page, with its charts drawn", lambda: client.get(page, headers={"host": "localhost"}), FIRST)
    addresses = {"page": page, "api": reverse("api_experiment_results", args=[experiment.pk])}
    addresses |= {f: reverse("results_download", args=[experiment.pk, f]) for f in ("csv", "json")}
    addresses["svg"] = reverse("results_download", args=[experiment.pk, "svg"]) + "?table=turns"
    answers = [
        timed(name, partial(client.get, address, headers={"host": "localhost"}), LATER)
        for name, address in addresses.items()
    ]
    codes = {answer.status_code for answer, _ in answers}
    print(f"answers: {codes}")
    return 0 if good and codes == {200} and all(fine for _, fine in answers) else 1


def flow(given: argparse.Namespace) -> int:
    from annotation.agreement.options import IntervalOptions as Options
    from simulation.results.services.data import Filters
    from simulation.results.services.results import document
    from tests.support import by_hand, by_hand_datasets
    from tests.support.experiment_flow import flow as from_scenarios_to_verdicts, human_check, names
    from tests.support.model_server import KEY, running

    size = {"users": given.users, "tasks": given.tasks, "assistants": given.assistants}
    with running() as server:
        os.environ |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"}
        (experiment, judge), _ = timed(
            "played and judged",
            lambda: from_scenarios_to_verdicts(server, **size, conditions=PUBLISHED[: given.conditions]),
            float("inf"),
        )
        study = human_check(experiment, judge, PEOPLE_RATE)
    print(f"{experiment.dialogues.count():,} dialogues, {server.replies:,} replies")
    wrong = 0
    for assistant in ("", *names(given.assistants)):
        found = by_hand.values(document(experiment, judge, Options(bootstrap=0), Filters(assistant=assistant)))
        differ = by_hand.differences(found, by_hand.tables(experiment, judge, assistant=assistant))
        print(f"{assistant or 'all assistants'}: {len(found):,} numbers, {len(differ)} differ from plain Python")
        wrong += len(differ)
    datasets = by_hand_datasets.of_datasets(experiment, study)
    differ = by_hand.differences(datasets.found, datasets.expected)
    drawn = datasets.figure_3 == by_hand_datasets.figure_3(by_hand_datasets.source_of(experiment))
    for number, n in sorted(Counter(key[0] for key in datasets.expected).items(), key=lambda pair: int(pair[0])):
        print(f"Table {number}: {n} numbers, {sum(key[0] == number for key in differ)} differ")
    print(f"Figure 3: {len(datasets.figure_3)} panels, {'all bars equal' if drawn else 'bars DIFFER'}")
    return 1 if wrong or differ or not drawn else 0


def plan(given: argparse.Namespace) -> int:
    from annotation.corpus.models import Scenario
    from simulation.experiments.services import estimates, experiments
    from simulation.experiments.services.grids import grid
    from tests.support.simulation import scripted
    from tests.support.synthetic import scenarios

    made = scenarios(given.users, given.tasks)
    Scenario.objects.filter(pk__in=[one.pk for one in made[SCENARIOS:]]).delete()

    def planned() -> experiments.Plan:
        return experiments.plan(
            name="All scenarios",
            user_agent=scripted("user"),
            assistants=[scripted("assistant")],
            conditions=["base"],
            grid=grid(users="all", tasks="all"),
        )

    found, good = timed("planned", planned, FIRST)
    estimate, quick = timed("estimated", lambda: estimates.estimate(found), FIRST)
    experiment, written = timed("written", lambda: experiments.make(by=None, plan=found, queue=False), FIRST)
    print(f"{estimate.dialogues:,} dialogues of about {estimate.turns:,} turns; rows: {experiment.dialogues.count():,}")
    return 0 if good and quick and written and estimate.dialogues == SCENARIOS else 1


if __name__ == "__main__":
    sys.exit(main())
