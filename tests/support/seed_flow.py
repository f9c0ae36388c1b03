"""From seeds to a released benchmark on a site of its own, its worker killed on the way: what is lost or doubled?"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import seed_model
from tests.support.model_server import MODEL, Answer, ModelServer, Request
from tests.support.site import Site, kill, wait_until

CALLS = 8
SPLITS = ("dev=0.2", "test=0.8")
PATIENT = {"CONCORD_WORKER_GONE_SECONDS": "30"}
"""On a busy machine a worker that lives must not count as gone: its orders would be worked on twice."""

PATIENCE = 600.0  # seconds

VOTES = """
import random
from annotation.models import Criterion, Study
from tests.support.labelled import people_say
criterion = Criterion.objects.get(study__slug="seeds", key="preference")
drawn = random.Random(0)
rows = []
for item in criterion.study.items.select_related("pair").order_by("position"):
    full = "1" if item.pair.extra["levels"][0] == "full" else "2"
    sure = drawn.choice((1.0, 0.95, 0.85, 0.6))
    rows.append([full if drawn.random() < sure else "21"[int(full) - 1] for _ in range(9)])
people_say(criterion, {f"v{k}": [row[k] for row in rows] for k in range(9)}, kind="simulated")
Study.objects.filter(pk=criterion.study_id).update(state="closed")
"""


@dataclass
class Found:
    """What came of it."""

    stages: list[dict[str, Any]] = field(default_factory=list)
    unfit: dict[str, int] = field(default_factory=dict)
    asked: int = 0
    asked_again: int = 0
    seconds: float = 0.0
    pairs: int = 0
    sheet: dict[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Script:
    """The model by script. It is slow enough to be caught in the middle; some of its first replies are bad."""

    def __init__(self, server: ModelServer, *, delay: float, bad_every: int) -> None:
        self.server, self.delay, self.bad_every = server, delay, bad_every
        self.asked: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        server.keep_requests = False

    def answer(self, request: Request) -> Answer:
        messages = request.body["messages"]
        self.asked[json.dumps(messages)] += 1
        kind = seed_model.kind_of(messages[0]["content"])
        self.kinds[kind] += 1
        text = seed_model.reply(request)
        if kind == "full" and len(messages) == 1 and self.is_bad(messages[0]["content"]):
            text = list(seed_model.BAD.values())[self.kinds[kind] % len(seed_model.BAD)]
        return Answer(text=text, delay=self.delay)

    def is_bad(self, prompt: str) -> bool:
        """Of prompts, one in so many; the same ones whenever they are asked."""
        return bool(self.bad_every) and sum(prompt.encode()) % self.bad_every == 0


def order(site: Site, folder: Path, *, n_seeds: int, personas: int, specific: int, general: int) -> None:
    """Begin a run from seeds, for the workers."""
    path = folder / "seeds.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in seed_model.seeds(n_seeds)))
    agent = f"openai_compatible:{MODEL} {json.dumps({'concurrency': CALLS, 'max_retries': 0})}"
    numbers = ("--personas", personas, "--specific", specific, "--general", general, "--memories", 2)
    words = [*map(str, numbers), "--levels", "none", "full", "--seed", "1", "--queue", "--json"]
    site.manage("candidates", "seeds", str(path), "--name", "Seeds", "--agent", agent, "--judge", agent, *words)


def stage(site: Site) -> str:
    name, problem = site.rows("SELECT stage, problem FROM simulation_candidaterun")[0]
    return str(problem or name)


def work(site: Site, script: Script, *, kill_after: list[int]) -> None:
    """Let a worker go through the run; kill it each time so many more replies have been sent."""
    for n in kill_after:
        with site.worker() as worker:
            goal = sum(script.asked.values()) + n
            wait_until(lambda goal=goal: sum(script.asked.values()) >= goal or stage(site) == "done", PATIENCE)
            kill(worker)
    with site.worker():
        wait_until(lambda: stage(site) not in ("personas", "details", "responses", "checks"), PATIENCE)


def release(site: Site, folder: Path, *, size: int | None, splits: Sequence[str]) -> tuple[dict[str, Any], Path]:
    """A study of the pairs, nine votes by script, a filter round, the benchmark, its datasheet and its files."""
    site.manage("study", "Seeds", "--kind", "pair", "--criteria", "preference", "--overlap", "9")
    site.manage("sample", "seeds", "--source", "candidates", *(["--size", str(size)] if size else []))
    site.manage("shell", "-v0", input=VOTES)
    site.manage("filter_round", "seeds", "--rule", "contested=dropped")
    site.manage("build_benchmark", "seeds", "Seeds", *(["--split", *splits] if splits else []), "--release")
    out = folder / "released"
    site.manage("release", "Seeds", "-o", str(out))
    sheet = json.loads(site.manage("datasheet", "Seeds", "--json").stdout)
    return sheet, out


def go(
    site: Site,
    server: ModelServer,
    folder: Path,
    *,
    n_seeds: int,
    personas: int,
    specific: int,
    general: int,
    size: int,
    kill_after: list[int],
    delay: float = 0.05,
    bad_every: int = 20,
) -> Found:
    """All of it; `problems` says what is lost, doubled or untrue."""
    site.environment |= PATIENT
    script = Script(server, delay=delay, bad_every=bad_every)
    server.by_default = script.answer
    began = time.monotonic()
    order(site, folder, n_seeds=n_seeds, personas=personas, specific=specific, general=general)
    work(site, script, kill_after=kill_after)
    found = Found(seconds=time.monotonic() - began, asked=sum(script.asked.values()))
    found.asked_again = sum(n - 1 for n in script.asked.values())
    if stage(site) != "done":
        found.problems.append(f"the run is held up: {stage(site)}")
        return found
    words = "import json; from simulation.models import CandidateRun; "
    words += "from simulation.generation.services import seed_runs; "
    words += "print(json.dumps(seed_runs.document(CandidateRun.objects.get())))"
    told = json.loads(site.manage("shell", "-v0", "-c", words).stdout)
    found.stages, found.unfit, found.pairs = told["stages"], told["unfit"], told["pairs"]
    found.sheet, out = release(site, folder, size=size, splits=SPLITS)
    found.manifest = json.loads((out / "benchmark.json").read_text())
    check_rows(site, found, n_kills=len(kill_after))
    check_release(found, out)
    return found


def check_rows(site: Site, found: Found, *, n_kills: int) -> None:
    """Nothing twice, and no more asked again than was in flight when the worker was killed."""
    if found.asked_again > n_kills * CALLS:
        found.problems.append(f"{found.asked_again} requests were made again, {n_kills} x {CALLS} may be")
    for what, sql in {
        "personas": "SELECT count(*) - count(DISTINCT making_key) FROM (SELECT json_extract(extra, '$.making') "
        "AS making_key FROM annotation_profile)",
        "orders": "SELECT count(*) - count(DISTINCT json_extract(asked, '$.key')) FROM simulation_making",
        "candidates": "SELECT count(*) - count(DISTINCT profile_id || question || level) FROM simulation_candidate",
        "pairs": "SELECT count(*) - count(DISTINCT profile_id || question) FROM annotation_responsepair",
    }.items():
        if doubled := site.rows(sql)[0][0]:
            found.problems.append(f"{doubled} {what} are there twice")
    if left := site.rows("SELECT count(*) FROM simulation_making WHERE finished_at IS NULL OR problem <> ''")[0][0]:
        found.problems.append(f"{left} orders are not done")


def check_release(found: Found, out: Path) -> None:
    """What the datasheet says against a count of the released files."""
    files = list(out.glob("*/*.jsonl"))
    cases = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    kept_out = (
        [json.loads(line) for line in (out / "excluded.jsonl").read_text().splitlines()]
        if (out / "excluded.jsonl").exists()
        else []
    )
    splits = Counter(one["split"] for one in cases)
    told = {one["split"]: one["n"] for one in found.sheet["splits"]}
    votes = sum(sum(one["votes"].values()) for one in (*cases, *kept_out))
    for what, said, true in (
        ("cases that count", found.sheet["counting"], len(cases)),
        ("excluded cases", found.sheet["excluded"], len(kept_out)),
        ("splits", told, dict(splits)),
        ("votes", found.sheet["votes"]["total"], votes),
        (
            "responses by level",
            {one["level"]: one["n"] for one in found.sheet["written_by"]},
            dict(Counter(level for one in cases for level in one["extra"]["levels"])),
        ),
    ):
        if said != true:
            found.problems.append(f"the datasheet says {said} {what}, the files hold {true}")
    if set(splits) != {"dev", "test"}:
        found.problems.append(f"splits are {dict(splits)}")
