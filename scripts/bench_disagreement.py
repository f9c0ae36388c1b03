"""How often camps of taste are told, where people have one taste and where they have two.

    make bench ARGS=disagreement                  40 tables of each kind, about three minutes
    python scripts/bench_disagreement.py 20       so many

Tables of 200 items x 8 people of unequal severity and consistency, five ordered categories. Exits 1 where more than 5 %
of the tables of one taste, two standard errors aside, are told to have two camps, or fewer than 80 % of the others.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats.disagreement.taste import taste
from annotation.stats.table import IntArray, RatingTable
from tests.support import drawing

SEED, TABLES = 20261123, 40
ITEMS, CAMPS = 200, (5, 3)
MOST_FALSE, LEAST_FOUND = 0.05, 0.8


def main() -> int:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    print(f"{tables} tables of each kind, {ITEMS} items x {sum(CAMPS)} people, seed {SEED}")
    told = {name: [_told(camps, number) for number in range(tables)] for name, camps in
            (("one taste", (sum(CAMPS),)), ("two tastes", CAMPS))}  # fmt: skip
    for name, found in told.items():
        print(f"{name:11} two camps told in {np.mean([one[0] for one in found]):.3f}, "
              f"mean gain {np.mean([one[1] for one in found]):+.3f} bits a rating")  # fmt: skip
    false, right = (float(np.mean([one[0] for one in each])) for each in told.values())
    broken = []
    if false > MOST_FALSE + 2 * np.sqrt(MOST_FALSE * (1 - MOST_FALSE) / tables):
        broken.append(f"{false:.3f} of the tables of one taste are told to have two camps")
    if right < LEAST_FOUND:
        broken.append(f"{right:.3f} of the tables of two tastes are told to have two camps")
    for line in broken:
        print(f"bench_disagreement: not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def _told(camps: tuple[int, ...], number: int) -> tuple[bool, float]:
    """Whether a table of these camps is told to have two, and the gain."""
    rng = np.random.default_rng([SEED, len(camps), number])
    codes = np.column_stack([drawing.draw(*drawing.draw_graded_model(size, 5, rng), ITEMS, rng)[0] for size in camps])
    found = taste(_table(codes), bootstrap=1000, seed=number)
    return bool(found.camps), found.gain.value


def _table(codes: IntArray) -> RatingTable:
    names = tuple(map(str, range(len(codes)))), tuple(f"r{j}" for j in range(codes.shape[1]))
    return RatingTable(codes, tuple(range(1, 6)), "ordinal", *names)


if __name__ == "__main__":
    sys.exit(main())
