"""Worker and web server are killed every few seconds, until people, a judge and a simulation are done all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from annotating.machines import wait_until
from annotating.server import ROOT
from annotating.study import SLUG

TURNS = 20
CONDITIONS = ("vanilla", "base", "base+D", "base+I", "base+S", "base+all")
JUDGE = {"otherwise": "1", "delay": 1.6, "concurrency": 2}
AGENT = {"delay": 0.9, "concurrency": 2}
LONGEST = 900.0  # seconds


class Work:
    """A run of a judge and an experiment, asked for on the command line."""

    def __init__(self, site: Any, number: int) -> None:
        asked = ["judge", SLUG, "--judge", f"slow{number}", "--provider", "scripted", "--parameters", json.dumps(JUDGE)]
        self.run = begun(site, "run", *asked, "--criteria", "personalization", "--no-wait")
        agents = [f"scripted {json.dumps({**AGENT, 'otherwise': f'{who} {number}: $n.'})}" for who in ("User", "Host")]
        asked = ["simulate", "--users", "all", "--tasks", "all", "--condition", *CONDITIONS, "--no-wait"]
        asked += ["--user-agent", agents[0], "--assistant", agents[1], "--name", f"Killed {number}"]
        self.experiment = begun(site, "experiment", *asked, "--max-turns", str(TURNS), "--max-turns-multi", str(TURNS))

    def is_done(self) -> bool:
        from judging.runs.models.runs import JudgeRun
        from simulation.experiments.models import Experiment

        return (
            JudgeRun.objects.filter(pk=self.run, finished_at__isnull=False).exists()
            and Experiment.objects.filter(pk=self.experiment, finished_at__isnull=False).exists()
        )

    def problems(self, items: int) -> list[str]:
        """What is lost, doubled or stuck."""
        from judging.runs.models.runs import JudgeChunk, Judgment
        from simulation.experiments.models import SimulatedDialogue, Turn

        judged = Judgment.objects.filter(run=self.run)
        turns = Turn.objects.filter(simulated__experiment=self.experiment)
        ended = SimulatedDialogue.objects.filter(experiment=self.experiment, ending="limit", dialogue__isnull=False)
        found = {
            f"{items} judgments with a verdict": judged.exclude(value="").values("item").distinct().count() == items,
            "one judgment each": judged.count() == items,
            "no part given up": not JudgeChunk.objects.filter(run=self.run).exclude(error="").exists(),
            f"{len(CONDITIONS)} dialogues": ended.count() == len(CONDITIONS),
            f"{TURNS} turns each": turns.count() == len(CONDITIONS) * TURNS,
        }
        return [f"not so: {what}" for what, so in found.items() if not so]


def begun(site: Any, what: str, *words: str) -> int:
    said = site.manage(*words, "--json")
    if said.returncode:
        raise SystemExit(f"bench: {words[0]} did not begin: {said.stderr}")
    return int(json.loads(said.stdout)[what])


def killed_until_done(site: Any, work: Work, people: Callable[[], bool], every: float) -> tuple[float, int, list[str]]:
    """Kill both each time they have been there for so many seconds; empty the queue once in between.

    Returns seconds, kills, and what did not end. How long a start takes depends on the machine and does not count.
    """
    began, kills = time.monotonic(), 0
    while not is_over(work, people, every):
        if time.monotonic() - began > LONGEST:
            return time.monotonic() - began, kills, [f"not done after {LONGEST:.0f} s"]
        site.worker.kill()
        site.web.kill()
        if kills == 1:
            site.queue_emptied()
        site.worker.start()
        site.web.start()
        wait_until(lambda: is_there(site), "a worker")
        kills += 1
    return time.monotonic() - began, kills, []


def is_over(work: Work, people: Callable[[], bool], seconds: float) -> bool:
    """Whether all is done within so many seconds."""
    end = time.monotonic() + seconds
    while not (over := work.is_done() and people()) and time.monotonic() < end:
        time.sleep(0.1)
    return over


def is_there(site: Any) -> bool:
    """Whether the worker has said that it is there."""
    from judging.judges.models import Worker

    return Worker.objects.filter(pid=site.worker.process.pid).exists()


# ---------- kills inside commands that write a file or the schema ----------


def killed_when(there: Callable[[], bool], *words: str, environment: dict[str, str] | None = None) -> bool:
    """Start a command and kill it as soon as `there`. False where it had ended before."""
    given = {**os.environ, **(environment or {})}
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and not there():
        time.sleep(0.005)
    was_running = process.poll() is None
    if was_running:
        process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


def files(site: Any) -> list[str]:
    """A backup, a study's archive and an export that are killed leave no half a file; the next one is whole."""
    found = []
    out: Path = site.folder / "killed"
    out.mkdir(exist_ok=True)
    asked = {
        "backup.zip": ("backup", "-o"),
        "study.zip": ("archive_study", "--study", SLUG, "-o"),
        "labels.csv": ("export", "--study", SLUG, "--format", "csv", "-o"),
    }
    for name, words in asked.items():
        path = out / name
        was_killed = killed_when(lambda: any(out.iterdir()), *words, str(path))
        print(f"   {words[0]}: killed {'while it wrote' if was_killed else 'too late'}", flush=True)
        if was_killed and path.exists():
            found.append(f"{words[0]} left half a file")
        said = site.manage(*words, str(path))
        if said.returncode or (path.suffix == ".zip" and zipfile.ZipFile(path).testzip()):
            found.append(f"{words[0]} afterwards: {said.stderr.strip()[-200:]}")
        if left := [one.name for one in out.iterdir() if one != path]:
            found.append(f"{words[0]} left {left}")
        path.unlink(missing_ok=True)
    return found


def reached(count: Callable[[], int], goal: int) -> bool:
    return count() >= goal


def migrations(site: Any) -> list[str]:
    """`migrate` on an empty database, killed again and again, comes to the same schema in the end."""
    environment, applied = site.another_database()
    kills = 0
    for _ in range(20):
        goal = applied() + 12
        if not killed_when(partial(reached, applied, goal), "migrate", "-v0", environment=environment):
            break
        kills += 1
    said = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--check"],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print(f"   migrate: killed {kills} times, {applied()} migrations applied", flush=True)
    return [f"migrate --check: {said.stdout}{said.stderr}"[-300:]] if said.returncode or not kills else []


__all__ = ["Work", "files", "killed_until_done", "migrations", "wait_until"]
