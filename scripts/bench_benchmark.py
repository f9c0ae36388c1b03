"""Models evaluated on a benchmark: the real local one on real cases, and many cases with a fake server, through Celery.

    python scripts/bench_benchmark.py [--many 8298] [--concurrency 64] [--cases 0] [--longest 480] [--data DIR]

--many cases of 200 personas are asked in three settings and both orders of a server that answers after a second: the
worker's memory, its rate and the time of the results page. With --cases, so many cases of PersonaFeedback (in DIR, no
longer than --longest characters) are answered by SmolLM2, by the embedding scorer and by the trivial rules in all
settings; prints the results. That takes the local model about a second for 150 tokens of a prompt. 0 leaves a part out.
Exits 1 where the rate is below 90 % of the ideal, a process of the worker takes more than 400 MB, or the page more
than a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench_judge import LEAST_SHARE, ROOT, Server, Site, kill, peak_mb, say, steady_rate, wait_for

MOST_MB, MOST_SECONDS = 400.0, 1.0
SETTINGS = ("none", "profile", "memories")
DATA = ROOT.parent / "shared" / "data" / "personafeedback"
SLUG = "bench-1"

SEED = """
from annotation.models import Benchmark, BenchmarkCase, Profile, ResponsePair, User
from core.accounts.models.projects import choose_project
User.objects.create_superuser("bench", password="bench", is_researcher=True)
people = Profile.objects.bulk_create([
    Profile(source="bench", external_id=f"p{n}", content_hash=f"{n:064x}", name=f"Person {n}",
        persona=f"Person {n} works in an office. " * 10,
        demographics={"Age": 20 + n % 60, "Gender": "w" if n % 2 else "m"},
        preferences={f"Field {k}": f"likes thing {k} of kind {n % 7}, and sometimes dialogue" for k in range(20)})
    for n in range(200)
])
pairs = ResponsePair.objects.bulk_create([
    ResponsePair(source="bench", external_id=f"c{n}", content_hash=f"{n:064x}", profile=people[n % 200],
        question=f"Which thing of field {n % 20}? This is dialogue {n}.",
        response_1="You may like this thing. " * (20 + n % 5), response_2="That thing is good. " * (25 - n % 5))
    for n in range(MANY)
], batch_size=2000)
benchmark = Benchmark.objects.create(project=choose_project(None), name="bench", version="1", slug=SLUG)
BenchmarkCase.objects.bulk_create([
    BenchmarkCase(benchmark=benchmark, pair=pair, kind="specific" if n % 3 else "general",
        tier=("easy", "medium", "hard")[n % 3], gold="12"[n % 2], content_hash=pair.content_hash)
    for n, pair in enumerate(pairs)
], batch_size=2000)
from judging.judges.services import judges
judges.define(by=None, name="bench", provider="anthropic", model="claude-bench",
    parameters={"concurrency": CONCURRENCY, "max_retries": 0})
"""

PAGE = """
import json, time
from django.conf import settings
from django.test import Client
from annotation.models import User
settings.ALLOWED_HOSTS = ["testserver"]
client = Client()
client.force_login(User.objects.get(username="bench"))
client.get("/evaluations/")  # loads what is loaded once: templates, charts
took = []
for _ in range(3):
    began = time.perf_counter()
    assert client.get("/evaluations/1/results/").status_code == 200
    took.append(time.perf_counter() - began)
print(json.dumps(took))
"""

JUDGES = """
from judging.judges.services import judges
for rule in ("longer", "first", "chance"):
    judges.define(by=None, name=rule, provider="baseline", model=rule)
judges.define(by=None, name="embedding scorer", provider="scorer", model="embedding")
judges.define(by=None, name="SmolLM2", provider="local", parameters={"explanation": 160, "context": 4096})
"""


def many(site: Site, server: Server, options: argparse.Namespace) -> dict[str, Any]:
    """All settings and both orders; what the worker takes, and the page."""
    site.manage("migrate", "-v0")
    site.manage("collectstatic", "--noinput", "-v0")  # the page names its files by their hashes
    site.manage("shell", text=f"MANY, CONCURRENCY, SLUG = {options.many}, {options.concurrency}, {SLUG!r}\n{SEED}")
    server.forget(1.0)
    with site.worker() as worker:
        wait_for(lambda: site.rows("SELECT 1 FROM judging_worker WHERE slots > 0"), 120, "a worker")
        said = site.manage(
            "evaluate", SLUG, "--judge", "bench", "--persona", *SETTINGS, "--no-cache", "--no-wait", "--json"
        )
        runs = [run["run"] for run in json.loads(said)["runs"]]
        expected = 2 * options.many * len(SETTINGS)
        wait_for(lambda: all(site.is_over(run) for run in runs), 300 + 3 * expected / options.concurrency, "the runs")
        peak = peak_mb(worker.pid)
        kill(worker)
    judged = sum(site.judged(run) for run in runs)
    if judged != expected:
        raise SystemExit(f"bench_benchmark: {judged} of {expected} judgments")
    rate = steady_rate(server.answered, options.concurrency)
    first, *kept = json.loads(site.manage("shell", text=PAGE).strip().splitlines()[-1])
    share = rate / options.concurrency
    found = {
        "judgments": judged,
        "rate": rate,
        "share": share,
        "peak_mb": peak,
        "page_first_seconds": first,
        "page_seconds": min(kept),
    }
    ok = share >= LEAST_SHARE and peak <= MOST_MB and min(kept) <= MOST_SECONDS
    return {**found, "ok": ok}


def real(site: Site, options: argparse.Namespace) -> dict[str, Any]:
    """The local model, the scorer and the rules on real cases in all settings."""
    site.manage("migrate", "-v0")
    site.manage("import_pairs", str(options.data), "--format", "personafeedback")
    site.manage("shell", text=JUDGES)
    chosen = ["--persona", "none", "profile", "memories", "summary", "--top-k", "2", "--answers", "log_probability"]
    drawn = ["--cases", str(options.cases), "--longest", str(options.longest), "--seed", str(options.seed)]
    names = ["longer", "first", "chance", "embedding scorer", "SmolLM2"]
    began = time.monotonic()
    with site.worker():
        wait_for(lambda: site.rows("SELECT 1 FROM judging_worker WHERE slots > 0"), 120, "a worker")
        site.manage("evaluate", "PersonaFeedback", "--judge", *names, *chosen, *drawn, "--json")
    say(f"answered in {time.monotonic() - began:.0f} s")
    say(site.manage("benchmark_results", "PersonaFeedback"))
    found: dict[str, Any] = json.loads(site.manage("benchmark_results", "PersonaFeedback", "--json"))
    named = {run["key"]: run for run in found["runs"]}
    return {
        "cases": found["n_cases"],
        "personas": found["n_personas"],
        "accuracy": [
            {"judge": named[row["key"]]["judge"], "setting": named[row["key"]]["setting_name"], **row["cells"]["all"]}
            for row in found["accuracy"]
        ],
    }


def main() -> int:
    options = arguments()
    found: dict[str, dict[str, Any]] = {}
    server = Server()
    if options.many:
        with tempfile.TemporaryDirectory(prefix="concord bench ") as name:
            found["many"] = many(Site(Path(name), server), server, options)
    if options.cases and not options.data.exists():
        say(f"{options.data} is not there: the real cases are left out")
    elif options.cases:
        with tempfile.TemporaryDirectory(prefix="concord bench ") as name:
            found["real"] = real(Site(Path(name), server), options)
    print(json.dumps(found, indent=1))
    return 0 if all(part.get("ok", True) for part in found.values()) else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=8298)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--cases", type=int, default=0, help="of PersonaFeedback, for the local model")
    parser.add_argument("--longest", type=int, default=480)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=DATA)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
