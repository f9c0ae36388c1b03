"""How fast a worker asks a model, how much memory it takes, and what kill -9 costs: real processes, embedded broker.

    python scripts/bench_judge.py [--items 500] [--concurrency 64] [--sequential 500] [--many 20000] [--kills 10]

A server of its own in this process speaks the Messages wire format and answers after a second. One study of --items is
judged with --concurrency calls in flight and the rate taken once it is running; then the first --sequential of them
one after the other; then --many with a faster server, for the worker's memory; then 1,000 on two criteria while worker
and web server are killed at --kills random moments, counting at the server what was paid twice. 0 leaves a part out.
Exits 1 where a rate is below 90 % of the ideal, memory grows by more than a fifth, or a killed run is not complete.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LEAST_SHARE, MOST_GROWTH = 0.9, 1.2
CRITERIA = ("personalization", "task_completion")

SEED = """
from annotation.models import Criterion, Dialogue, Item, Sample, Study
from core.accounts.models.projects import choose_project
made = [
    Dialogue(source="bench", external_id=f"d{n}", content_hash=f"{n:064x}", turns=[
        {"role": "user", "content": f"Book me a table, please. This is dialogue {n}. " + "I like it quiet. " * 40},
        {"role": "assistant", "content": "At the Thai place that you like, at eight? " * 10},
    ])
    for n in range(MOST)
]
Dialogue.objects.bulk_create(made, batch_size=2000)
for size in SIZES:
    study = Study.objects.create(
        project=choose_project(None), name=f"bench {size}", slug=f"bench-{size}", kind="dialogue")
    Criterion.objects.create(study=study, key="personalization", name="Personalization", question="How well?",
        level="ordinal", position=1,
        categories=[{"value": str(n), "label": f"step {n}", "guideline": ""} for n in range(1, 5)])
    Criterion.objects.create(study=study, key="task_completion", name="Task completion", question="Was it done?",
        level="nominal", position=2,
        categories=[{"value": value, "label": value, "guideline": ""} for value in ("yes", "no")])
    sample = Sample.objects.create(study=study, method="all", frame_size=size, size=size, input_hash="0" * 64)
    Item.objects.bulk_create([
        Item(study=study, sample=sample, dialogue=one, position=place, inclusion_probability=1.0,
             content_hash=one.content_hash)
        for place, one in enumerate(made[:size], start=1)
    ], batch_size=2000)
"""


class Server:
    """Answers every message after `delay` seconds, and remembers when it was asked what."""

    def __init__(self) -> None:
        self.delay = 1.0
        self.answered: list[float] = []
        self.asked: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self.serve, args=(ready,), daemon=True).start()
        ready.wait()

    def forget(self, delay: float) -> None:
        self.delay, self.most = delay, 0
        self.answered, self.asked = [], Counter()

    def serve(self, ready: threading.Event) -> None:
        async def listen() -> None:
            server = await asyncio.start_server(self.connection, "127.0.0.1", 0, backlog=512)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            await server.serve_forever()

        self.loop.run_until_complete(listen())

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                sizes = [int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")]
                body = await reader.readexactly(sizes[0]) if sizes else b""
                answer = json.dumps(await self.answer(lines[0], body)).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
                )
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, line: str, body: bytes) -> dict[str, Any]:
        method, path, _ = line.split(" ", 2)
        if method == "GET":
            return {
                "id": path.rsplit("/", 1)[-1],
                "type": "model",
                "display_name": "m",
                "created_at": "2026-01-01T00:00:00Z",
            }
        if path.endswith("count_tokens"):
            return {"input_tokens": 400}
        asked = json.loads(body)
        said = json.dumps(asked["messages"])
        values = asked["output_config"]["format"]["schema"]["properties"]["verdict"]["enum"]
        place = said.index("This is dialogue ") + len("This is dialogue ")
        self.asked[said[place : said.index(".", place)]] += 1
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.in_flight -= 1
        self.answered.append(time.monotonic())
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-bench", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": json.dumps({"explanation": "So it is.", "verdict": values[0]})}],
            "stop_sequence": None,
            "usage": {"input_tokens": 400, "output_tokens": 30},
        }  # fmt: skip


class Site:
    """A data folder with its database and broker."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(ROOT),
            "CONCORD_DATA_DIR": str(folder),
            "CONCORD_WORKER_GONE_SECONDS": "6",
            "ANTHROPIC_API_KEY": "bench",
            "ANTHROPIC_BASE_URL": server.url,
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
        }

    def manage(self, *arguments: str, text: str | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=self.environment, input=text, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"manage.py {arguments[0]} failed: {done.stderr[-2000:]}")
        return done.stdout

    def prepare(self, sizes: list[int]) -> None:
        self.manage("migrate", "-v0")
        self.manage("shell", text=f"MOST, SIZES = {max(sizes)}, {sizes}\n{SEED}")

    def start(self, size: int, concurrency: int, criteria: tuple[str, ...] = CRITERIA[:1]) -> int:
        given = json.dumps({"concurrency": concurrency, "max_retries": 0})
        options = ["--judge", f"bench-{concurrency}", "--provider", "anthropic", "--model", "claude-bench"]
        said = self.manage(
            "judge",
            f"bench-{size}",
            *options,
            "--parameters",
            given,
            "--criteria",
            ",".join(criteria),
            "--no-cache",
            "--no-wait",
            "--json",
        )
        return int(json.loads(said)["run"])

    @contextmanager
    def process(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        with (self.folder / "processes.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            kill(process)

    def worker(self) -> Any:
        return self.process("-m", "celery", "-A", "config", "worker", "-c", "2", "--loglevel", "WARNING")

    def web(self, port: int) -> Any:
        return self.process("-m", "gunicorn", "config.wsgi:application", "--bind", f"127.0.0.1:{port}")

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "concord.sqlite3", timeout=30)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def judged(self, run: int) -> int:
        return int(self.rows("SELECT count(*) FROM judging_judgment WHERE run_id = ?", run)[0][0])

    def is_over(self, run: int) -> bool:
        found = self.rows(
            "SELECT finished_at IS NOT NULL OR stopped_at IS NOT NULL FROM judging_judgerun WHERE id = ?", run
        )
        return bool(found[0][0])


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(there: Any, seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not there():
        if time.monotonic() > end:
            raise SystemExit(f"bench_judge: waited {seconds:.0f} s for {what}")
        time.sleep(0.1)


def peak_mb(pid: int) -> float:
    """The most memory that a process and those it started have had, each for itself; the largest of those that live."""
    pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    status = [Path(f"/proc/{one}/status").read_text() for one in pids]
    return max(int(text.split("VmHWM:")[1].split()[0]) for text in status if "VmHWM:" in text) / 1024


def measured(site: Site, server: Server, size: int, concurrency: int, delay: float) -> dict[str, float]:
    """A run from start to end with a worker of its own."""
    server.forget(delay)
    with site.worker() as worker:
        wait_for(lambda: site.rows("SELECT 1 FROM judging_worker WHERE slots > 0"), 60, "a worker")
        run = site.start(size, concurrency)
        wait_for(lambda: site.is_over(run), 120 + 3 * size * max(delay, 0.02) / concurrency, f"run {run}")
        peak = peak_mb(worker.pid)
    if site.judged(run) != size:
        raise SystemExit(f"bench_judge: run {run} has {site.judged(run)} of {size} judgments")
    return {"rate": steady_rate(server.answered, concurrency), "peak_mb": peak, "in_flight": server.most}


def steady_rate(answered: list[float], concurrency: int) -> float:
    """Answers a second once it is running: from the last of the first wave to the last but one wave."""
    first, last = concurrency, len(answered) - concurrency
    if concurrency == 1 or last - first < concurrency:
        first, last = 1, len(answered)
    return (last - first) / (answered[last - 1] - answered[first - 1])


def killed(site: Site, server: Server, size: int, concurrency: int, kills: int, seed: int, port: int) -> dict[str, Any]:
    """A run during which worker and web server are killed at random moments."""
    server.forget(1.0)
    rng = random.Random(seed)  # noqa: S311 — a lot, no secret
    run = site.start(size, concurrency, CRITERIA)
    paid_again = []
    for _ in range(kills):
        with site.worker(), site.web(port):
            before = site.judged(run)
            wait_for(lambda: site.judged(run) > before or site.is_over(run), 60, "the run to go on")  # noqa: B023
            time.sleep(rng.uniform(0.2, 1.5))
        time.sleep(0.3)
        paid_again.append(sum(server.asked.values()) - site.judged(run))
    with site.worker():
        wait_for(lambda: site.is_over(run), 300, "the run to end")
    per_item = site.rows("SELECT count(*) FROM judging_judgment WHERE run_id = ? GROUP BY item_id, criterion_id", run)
    expected = size * len(CRITERIA)
    twice = sum(server.asked.values()) - expected
    return {
        "expected": expected,
        "requests": sum(server.asked.values()),
        "judgments": sum(n for (n,) in per_item),
        "duplicates": sum(n > 1 for (n,) in per_item),
        "kills": kills,
        "paid_twice": twice,
        "most_paid_twice_per_kill": max(b - a for a, b in zip([0, *paid_again], paid_again, strict=False)),
        "in_flight": concurrency,
    }


def main() -> int:
    options = arguments()
    server = Server()
    with tempfile.TemporaryDirectory(prefix="concord bench ") as name:
        site = Site(Path(name), server)
        sizes = {options.items, options.sequential, options.many, 1000 if options.kills else 0} - {0}
        site.prepare(sorted(sizes))
        found = dict(parts(site, server, options))
    print(json.dumps(found, indent=1))
    return 0 if all(part.get("ok", True) for part in found.values()) else 1


def parts(site: Site, server: Server, options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    n = options.concurrency
    ideal = max((measured(site, server, options.items, n, 1.0) for _ in range(options.rounds)), key=lambda r: r["rate"])
    yield "throughput", {**ideal, "ideal": n, "share": ideal["rate"] / n, "ok": ideal["rate"] >= LEAST_SHARE * n}
    say(f"{options.items} items, {n} in flight: {ideal['rate']:.1f} a second, {ideal['peak_mb']:.0f} MB")
    if options.sequential:
        alone = measured(site, server, options.sequential, 1, 1.0)
        yield "sequential", {**alone, "times_faster": ideal["rate"] / alone["rate"]}
        say(f"{options.sequential} one after the other: {alone['rate']:.2f} a second")
    if options.many:
        few = measured(site, server, options.items, n, 0.2)
        many = measured(site, server, options.many, n, 0.2)
        grown = many["peak_mb"] / few["peak_mb"]
        yield "memory", {"few": few, "many": many, "times": grown, "ok": grown <= MOST_GROWTH}
        say(f"memory: {few['peak_mb']:.0f} MB for {options.items}, {many['peak_mb']:.0f} MB for {options.many}")
    if options.kills:
        after = killed(site, server, 1000, n, options.kills, options.seed, options.port)
        whole = after["judgments"] == after["expected"] and not after["duplicates"]
        yield "kills", {**after, "ok": whole and after["most_paid_twice_per_kill"] <= n}
        say(f"{options.kills} kills: {after['judgments']} judgments, {after['paid_twice']} requests paid twice")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument(
        "--rounds", type=int, default=3, help="of the first part; the best counts, as others use the machine"
    )
    parser.add_argument("--port", type=int, default=8190, help="of the web server that is killed")
    parser.add_argument("--sequential", type=int, default=500)
    parser.add_argument("--many", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
