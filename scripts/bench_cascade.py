"""Whether the promise of cascades holds: synthetic judges, 300 labelled items, agreement known on 10,000 others.

Printed: in how many of 1,000 studies the verdicts that a cascade kept agree less than promised (it has to be at most
delta, within two standard errors of the count), and what it keeps on average.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from judging.stats.cascade import Stage, cascade

STUDIES, LABELLED, OTHERS = 1000, 300, 10_000
PAIRS = {
    "a mediocre and a good judge": (0.75, 0.95),
    "a useless and a mediocre judge": (0.5, 0.8),
    "two judges at the promise": (0.85, 0.85),
}
TARGET, DELTA = 0.85, 0.1


def judge(rng: np.random.Generator, name: str, top: float, hard: np.ndarray) -> Stage:
    """A synthetic judge that agrees with a chance of ``top`` on average; its confidence follows that chance roughly."""
    p = np.clip(top + 0.3 * (0.5 - hard), 0.02, 1)
    return Stage(name, p + rng.normal(0, 0.1, len(p)), (rng.random(len(p)) < p).astype(float), 1.0)


def study(rng: np.random.Generator, tops: tuple[float, float]) -> tuple[bool, float]:
    """Whether the promise was broken, and the share kept."""
    n = LABELLED + OTHERS
    hard, rest = rng.random(n), np.arange(n) >= LABELLED
    judges = [judge(rng, str(k), top, hard) for k, top in enumerate(tops)]
    seen = [replace(one, agreement=np.where(rest, np.nan, one.agreement)) for one in judges]
    found = cascade(seen, target=TARGET, delta=DELTA)
    kept = [stage.kept & rest for stage in found.stages]
    count = sum(int(mine.sum()) for mine in kept)
    right = sum(float(one.agreement[mine].sum()) for mine, one in zip(kept, judges, strict=True))
    return bool(count and right / count < TARGET), count / OTHERS


def main(studies: int = STUDIES) -> int:
    failed, most = 0, DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / studies)
    for name, tops in PAIRS.items():
        rng = np.random.default_rng(11)
        broken, kept = np.array([study(rng, tops) for _ in range(studies)]).T
        failed += broken.mean() > most
        print(
            f"{name}: promise of {TARGET} broken in {broken.mean():.1%} (at most {DELTA:.0%}), kept {kept.mean():.1%}"
        )
    print("all as required" if not failed else f"{failed} requirements not met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
