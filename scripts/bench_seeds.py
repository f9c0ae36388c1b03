"""From seeds to a released benchmark, the worker killed on the way; and the rate at which candidates are made.

    python scripts/bench_seeds.py [--seeds 20] [--personas 80] [--cases 350] [--kills 3]
    python scripts/bench_seeds.py --rate 400
    python scripts/bench_seeds.py --local 5

A server that answers by script plays the model and the judge; some of its replies are empty, refusals, the prompt, or
in another language. The worker is killed (SIGKILL) --kills times. Then nine votes by script, a filter round, splits and
the release. Exits 1 where anything is lost or doubled, a split is empty, or the datasheet says what the files do not
hold. --rate orders so many questions at four levels of a server that answers after half a second, 32 at once, and
prints replies per second. --local makes so many cases with the local model, which also checks them as the judge, and
prints what came of each stage.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import seed_flow, seed_model  # noqa: E402
from tests.support.model_server import KEY, MODEL, Answer, ModelServer, running  # noqa: E402
from tests.support.site import Site  # noqa: E402

PATIENCE = 3000.0  # seconds
DECISIONS = """
from simulation.generation.services import generation
from simulation.models import Conflict
for one in Conflict.objects.all():
    generation.decide(by=None, conflict=one, decision="none", note="decided by script")
"""
SOMEBODY = "from tests.support.factories import ProfileFactory; ProfileFactory(external_id='mei', name='Mei')"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("seeds", 20), ("personas", 80), ("cases", 350), ("kills", 3), ("rate", 0), ("local", 0)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="concord-seeds-") as folder, running() as server:
        site = Site(Path(folder) / "data")
        site.folder.mkdir()
        site.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"}
        site.manage("migrate", "-v0", timeout=PATIENCE)
        if given.rate:
            return rate(site, server, given.rate)
        if given.local:
            return local(site, Path(folder), given.local)
        return killed(site, server, Path(folder), given)


def killed(site: Site, server: ModelServer, folder: Path, given: argparse.Namespace) -> int:
    """Print what came of a run whose worker was killed."""
    found = seed_flow.go(
        site,
        server,
        folder,
        n_seeds=given.seeds,
        personas=given.personas,
        specific=3,
        general=2,
        size=given.cases,
        kill_after=[given.personas * 2] * given.kills,
    )
    print_stages(found.stages)
    print("replies that did not fit:", json.dumps(found.unfit))
    print(f"{found.asked} requests in {found.seconds:.0f} s, {found.asked_again} of them made again after a kill")
    if found.sheet:
        splits = {one["split"]: one["n"] for one in found.sheet["splits"]}
        print(f"{found.pairs} pairs; released: {found.sheet['counting']} cases, {found.sheet['excluded']} excluded")
        print(f"splits {splits}, tiers {found.sheet['tiers']}, {found.sheet['votes']['total']} votes")
    for problem in found.problems:
        print("PROBLEM:", problem)
    print("nothing is lost or doubled, splits are filled, the datasheet is true" if not found.problems else "FAILED")
    return int(bool(found.problems))


def rate(site: Site, server: ModelServer, n: int) -> int:
    """Print how many replies come in a second."""
    server.keep_requests = False
    server.by_default = lambda _: Answer(text=f"Answer {server.replies}.", delay=0.5)
    site.manage("shell", "-v0", "-c", SOMEBODY)
    path = site.folder / "questions.jsonl"
    path.write_text("".join(json.dumps({"question": f"Question {k}?"}) + "\n" for k in range(n)))
    agent = f'openai_compatible:{MODEL} {{"concurrency": 32}}'
    began = time.monotonic()
    words = ("candidates", "make", "--agent", agent, "--profiles", "all", "--questions", str(path), "--json")
    told = json.loads(site.manage(*words).stdout)
    seconds = time.monotonic() - began
    print(f"{told['replies']} replies in {seconds:.1f} s: {told['replies'] / seconds:.1f} a second, start included")
    return 0


def local(site: Site, folder: Path, n: int) -> int:
    """Print what the local model makes of `n` seeds, a question each: every stage, the cases with its verdicts as the
    judge, and the release. Exits 1 where a case has no verdict.

    A small model sees conflicts where there are none, and takes every response for one of the level none. So decisions
    by script stand for the person who looks at the conflicts, and pairs are made of all responses if none passes.
    """
    path = site.folder / "seeds.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in seed_model.seeds(n)))
    agent, judge = 'local {"max_tokens": 600, "temperature": 0.7}', 'local {"max_tokens": 600, "temperature": 0}'
    words = ["--specific", "1", "--general", "0", "--memories", "1", "--levels", "none", "full", "--near", "100"]
    order = ("candidates", "seeds", str(path), "--name", "Local", "--agent", agent, "--judge", judge, *words, "--json")
    began = time.monotonic()
    told = json.loads(site.manage(*order, timeout=PATIENCE).stdout)
    if found := site.rows("SELECT label, explanation FROM simulation_conflict"):
        print("conflicts that the judge sees:", *(f"\n  {label}: {why[:100]!r}" for label, why in found))
        print(told["problem"])
        site.manage("shell", "-v0", input=DECISIONS)
        told = json.loads(site.manage(*order, "--resume", timeout=PATIENCE).stdout)
    print(f"{told['done']} orders in {time.monotonic() - began:.0f} s")
    print_stages(told["stages"])
    print("replies that the rules refused:", json.dumps(told["unfit"]))
    if not told["pairs"]:
        print("no pair passes the judge;", told["problem"] or "all responses make pairs")
        site.manage("candidates", "pairs", "--against", "full-none", "--near", "100")
    n_unseen = print_cases(site)
    sheet, _ = seed_flow.release(site, folder, size=None, splits=())
    print(f"released without splits: {sheet['counting']} cases, {sheet['excluded']} excluded; votes by script")
    return int(bool(n_unseen))


def print_stages(stages: list[dict[str, Any]]) -> None:
    for row in stages:
        print(f"{row['what']}: {row['n']}", *(f"({n} {reason})" for reason, n in row["left_out"].items()))


def print_cases(site: Site) -> int:
    """Print every case with what the judge says of its responses. Returns how many responses it has not seen."""
    said: dict[int, Any] = {}
    for asked, parts in site.rows("SELECT asked, parts FROM simulation_making WHERE kind = 'responses'"):
        said |= zip(json.loads(asked)["candidates"], json.loads(parts).get("responses", []), strict=False)
    candidates = {key: pk for pk, key in site.rows("SELECT id, key FROM simulation_candidate")}
    n_unseen = 0
    for question, one, two, extra in site.rows(
        "SELECT question, response_1, response_2, extra FROM annotation_responsepair"
    ):
        print(f"  {question}")
        found = json.loads(extra)
        for level, key, text in zip(found["levels"], found["candidates"], (one, two), strict=True):
            verdict = said.get(candidates[key])
            n_unseen += verdict is None
            print(f"    {level}: {text[:100]!r}\n      judge: {json.dumps(verdict)}")
    return n_unseen


if __name__ == "__main__":
    sys.exit(main())
