"""The same work at Concord, Potato and Label Studio, one after the other on this machine: saved items a second, p95.

    python scripts/bench_rivals.py --potato VENV/bin/potato --label-studio VENV/bin/label-studio
        [--people 20] [--items 10000] [--seconds 60] [--think 0.95]

Each rival runs as its own documentation starts it (on one machine, with its default storage), Concord on SQLite as
`make serve` does. Every virtual annotator signs in, grades six questions of an item, saves, gets the next, and "reads"
for `--think` seconds on average. A rival that is not named is left out. Nothing is measured where neither is named.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import requests
from annotating.rivals import GRADES, LabelStudio, Potato, Seat

HERE = Path(__file__).resolve().parent


@dataclass
class Worker:
    """One virtual annotator, and how long each "save and next" took."""

    seat: Seat
    rng: random.Random
    seconds: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)

    def work(self, until: float, think: float) -> None:
        more = True
        time.sleep(self.rng.uniform(0, think))
        while more and time.monotonic() < until:
            time.sleep(self.rng.uniform(0.5 * think, 1.5 * think))
            began = time.perf_counter()
            try:
                more = self.seat.save_and_next(self.rng.choice(GRADES))
            except requests.RequestException as error:
                self.problems[problem(error)] += 1
                continue
            self.seconds.append(time.perf_counter() - began)


def problem(error: requests.RequestException) -> str:
    return str(error.response.status_code) if error.response is not None else type(error).__name__


def measured(rival: type[Potato] | type[LabelStudio], program: Path, given: argparse.Namespace) -> float:
    """Saved items a second, printed with the rest."""
    with tempfile.TemporaryDirectory(prefix="concord-rival-") as folder:
        server = rival(program.resolve(), Path(folder), given.items)
        try:
            workers = [Worker(server.seat(n), random.Random(n)) for n in range(given.people)]  # noqa: S311
            began = time.monotonic()
            threads = [threading.Thread(target=one.work, args=(began + given.seconds, given.think)) for one in workers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            took = time.monotonic() - began
        finally:
            server.process.terminate()
            server.process.wait(timeout=60)
    seconds = sorted(second for one in workers for second in one.seconds)
    problems = sum((one.problems for one in workers), Counter[str]())
    rate = len(seconds) / took
    p95 = 1000 * seconds[int(0.95 * len(seconds))] if seconds else float("nan")
    print(
        f"{rival.name}: {rate:.1f} saved items/s, save and next p95 {p95:,.0f} ms, problems {dict(problems)}",
        flush=True,
    )
    return rate


def main() -> int:
    given = arguments()
    rivals: list[tuple[type[Potato] | type[LabelStudio], Path | None]] = [
        (Potato, given.potato),
        (LabelStudio, given.label_studio),
    ]
    named = [(rival, program) for rival, program in rivals if program]
    if not named:
        print("bench_rivals: not run. Name --potato or --label-studio.")
        return 0
    print(f"{given.people} people, {given.items:,} items, {given.think} s between two items", flush=True)
    common = ["--people", str(given.people), "--items", str(given.items), "--seconds", str(given.seconds)]
    asked = ["--database", "sqlite", "--think", str(given.think), "--drafts", "0", *common]
    print("Concord:", flush=True)
    code = subprocess.run([sys.executable, str(HERE / "bench_annotate.py"), *asked], check=False).returncode
    for rival, program in named:
        measured(rival, program, given)
    return code


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--potato", type=Path)
    parser.add_argument("--label-studio", type=Path)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=0.95)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
