"""Power and false alarms of the audits on synthetic judges with and without planted biases; 300 items each.

Printed: how often each planted bias is found after correction for all probes (it has to be 0.9 or more), and in how
many of 600 clean judges anything at all is found (at most 5 %). Every synthetic judge also answers all altered copies.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judging.stats.audits.battery import Audit, audit_pairs, audit_scores
from judging.stats.audits.planted import (
    CLEAN,
    ON_PAIRS,
    ON_SCORES,
    Planted,
    planted_pairs,
    planted_scores,
    stated,
)

POWER, FALSE_ALARMS = 0.9, 0.05
N = 300


def pairs(bias: Planted, seed: int) -> Audit:
    return audit_pairs(planted_pairs(bias, n=N, seed=seed))


def scores(bias: Planted, seed: int) -> Audit:
    return audit_scores(planted_scores(bias, n=N, seed=seed), seed=seed)


def power(audit: Callable[[Planted, int], Audit], name: str, *, paired: bool, times: int) -> float:
    return sum(name in audit(stated(name, paired=paired), 10_000 + seed).found for seed in range(times)) / times


def sizes(bias: Planted) -> str:
    """The sizes of the planted biases, without those that are not there."""
    return ", ".join(f"{name} {size:g}" for name, size in asdict(bias).items() if size)


def main(clean: int = 600, times: int = 100) -> int:
    failed = 0
    for kind, audit, names in (("pairs", pairs, ON_PAIRS), ("scores", scores, ON_SCORES)):
        start = time.perf_counter()
        accused = [audit(CLEAN, seed).found for seed in range(clean)]
        alarms = sum(map(bool, accused))
        failed += alarms > FALSE_ALARMS * clean
        print(f"{kind}: {alarms} of {clean} clean judges accused ({alarms / clean:.1%}) of {sorted(sum(accused, ()))}")
        for name in names:
            found = power(audit, name, paired=kind == "pairs", times=times)
            failed += found < POWER
            print(f"  {name:<20} power {found:.2f} at {sizes(stated(name, paired=kind == 'pairs'))}")
        print(f"  {time.perf_counter() - start:.1f} s")
    print("all as required" if not failed else f"{failed} requirements not met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
