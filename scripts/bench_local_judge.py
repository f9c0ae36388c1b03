"""The local model at work: demo dialogues on all criteria and pairs in both orders, through Celery, on this machine.

    make bench ARGS=local_judge

Prints how many prompt tokens its server evaluated and how many it reused, how many replies kept to the schema, and the
time, first with reuse and then, on fewer dialogues, without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ITEMS = int(os.environ.get("BENCH_ITEMS", "12"))
WITHOUT = max(1, ITEMS // 6)
LOOK_SECONDS = 1.0


@contextmanager
def worker() -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--loglevel", "WARNING", "--concurrency", "2"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def prepare() -> None:
    """The demo's material, without the studies that it comes with."""
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from config import demo

    demo.import_datasets(demo.people()[0])


def study(kind: str, items: int) -> Any:
    from annotation.studies.services import samples, studies
    from config import demo
    from core.accounts.models.users import User

    rosa = User.objects.get(username=demo.RESEARCHER)
    criteria = demo.DIALOGUE_CRITERIA if kind == "dialogue" else ("preference",)
    made = studies.create(by=rosa, name=f"{items} of {kind} {time.time()}", kind=kind, criteria=criteria, overlap=1)
    samples.draw(by=rosa, study=made, method="simple", size=items, filters={"source": demo.SOURCE}, seed=demo.SEED)
    return made


def judged(studies: list[Any], **parameters: Any) -> list[Any]:
    """Runs of the local judge on the studies, through the worker, when they are finished."""
    from judging.judges.services import judges
    from judging.runs.services import runs

    name = "local, reusing" if parameters.get("reuse", True) else "local, reading all anew"
    judge = judges.define(by=None, name=name, provider="local", parameters=parameters)
    begun = [
        runs.make(by=None, plan=runs.plan(study=one, judge=judge, order_policy="both", use_cache=False), queue=True)
        for one in studies
    ]
    while any(run.state == "running" for run in begun):
        time.sleep(LOOK_SECONDS)
        for run in begun:
            run.refresh_from_db()
    return begun


def told(runs: list[Any]) -> dict[str, Any]:
    """What the server said of the work on these runs."""
    from judging.runs.models.runs import JudgeChunk, Judgment

    rows = list(Judgment.objects.filter(run__in=runs))
    timings = [row.details["timings"] for row in rows]
    evaluated, reused = (sum(one[name] for one in timings) for name in ("prompt_n", "cache_n"))
    begun, ended = min(run.created_at for run in runs), max(run.finished_at for run in runs)
    return {
        "items": sum(run.study.items.count() for run in runs),
        "judgments": len(rows),
        "schema_valid": sum(keeps_form(row) for row in rows),
        "with_distribution": sum("scale_mass" in row.details for row in rows),
        "unscored": Counter(row.unscored_reason for row in rows if row.unscored_reason),
        "errors": [part.error for part in JudgeChunk.objects.filter(run__in=runs).exclude(error="")],
        "prompt_tokens": evaluated + reused,
        "prompt_tokens_evaluated": evaluated,
        "prompt_tokens_reused": reused,
        "prompt_tokens_per_second": round(evaluated / sum(one["prompt_ms"] for one in timings) * 1000, 1),
        "output_tokens": sum(one["predicted_n"] for one in timings),
        "output_tokens_per_second": round(
            sum(one["predicted_n"] for one in timings) / sum(one["predicted_ms"] for one in timings) * 1000, 1
        ),
        "verdicts": Counter(f"{row.criterion.key} {row.value}" for row in rows),
        "seconds": round((ended - begun).total_seconds(), 1),
    }


def keeps_form(row: Any) -> bool:
    """Whether the reply is an object of an explanation and then one of the values shown, and nothing else."""
    try:
        said = json.loads(row.raw_reply)
    except ValueError:
        return False
    values = ["A", "B", "tie"] if row.order else row.criterion.values
    return list(said) == ["explanation", "verdict"] and said["verdict"] in values


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="concord bench ") as folder:
        os.environ["CONCORD_DATA_DIR"] = folder
        prepare()
        with worker():
            dialogues, pairs = study("dialogue", ITEMS), study("pair", ITEMS)
            report("dialogues, with reuse", judged([dialogues]))
            report("pairs in both orders, with reuse", judged([pairs]))
            report("fewer dialogues, without reuse", judged([study("dialogue", WITHOUT)], reuse=False))


def report(name: str, runs: list[Any]) -> None:
    print(json.dumps({name: told(runs)}, indent=1), flush=True)


if __name__ == "__main__":
    main()
