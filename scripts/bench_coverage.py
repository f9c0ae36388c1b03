"""Measure how often 95 % intervals hold what they claim, with few profiles, few items and rare categories.

    make bench ARGS=coverage                        everything: about six minutes of one core
    python scripts/bench_coverage.py profiles items means best      only what is named

Each design is drawn 400 times (`annotation.stats.simulated.Profiles`: profiles differ in what they hold and in how hard
they are). Printed are coverage and, after a slash, the share of tables with a warning or without an interval. Exits 1
where a coverage lies below .93 (less what 400 repeats vary by) and not nearly every table says so, and where of six
equal judges some interval excludes 0 in more than 6 % (with the same allowance).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats import cohen
from annotation.stats.against_group import minus
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.chance_corrected import NAMES, chance_corrected
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Replicates, Resampling, replicate
from annotation.stats.simulated import Profiles
from annotation.stats.table import FloatArray, IntArray, Level, RatingTable
from annotation.stats.warnings import interval_warnings, resampling_warnings, table_warnings
from judging.stats import figures
from judging.stats.calibrate import Columns, calibrate
from judging.stats.differences import rank_judges
from judging.stats.figures import RatersAgainstPeople

SEED = 20250117
TABLES = 400
BOOTSTRAP = 400
POPULATIONS, POPULATION = 8, 200_000
LEAST, MOST_WRONG, SAID = 0.93, 0.06, 0.95
NOISE = 2 * np.sqrt(0.95 * 0.05 / TABLES)

SHARES: dict[str, tuple[Level, tuple[float, ...]]] = {
    "2 categories, .5": ("nominal", (0.5, 0.5)),
    "2 categories, .9": ("nominal", (0.1, 0.9)),
    "4 ordered, .5": ("ordinal", (0.15, 0.2, 0.5, 0.15)),
    "4 ordered, .9": ("ordinal", (0.02, 0.03, 0.05, 0.9)),
}
KINDS: tuple[tuple[str, Scale], ...] = (
    ("fleiss_kappa", "coefficient"),
    ("krippendorff_alpha", "coefficient"),
    ("mean_pairwise_cohen_kappa", "coefficient"),
    ("judge", "coefficient"),
    ("ceiling", "coefficient"),
    ("below_ceiling", "plain"),
    ("difference", "plain"),
)
SOUND = {"few_items", "few_disagreements", "rare_categories", "few_clusters", "few_effective_units"}


@dataclass
class Tally:
    """Of the intervals of one figure: how many hold the truth, and how many tables say that they may not."""

    held: int = 0
    there: int = 0
    said: int = 0
    n: int = 0

    def add(self, one: Estimate, truth: float, *, warned: bool) -> None:
        has = not np.isnan(one.low)
        self.n += 1
        self.there += has
        self.held += has and bool(one.low <= truth <= one.high)
        self.said += warned or not has

    @property
    def coverage(self) -> float:
        return self.held / self.there if self.there else np.nan

    @property
    def kept(self) -> bool:
        """Whether the interval covers enough, or nearly every table says that it may not."""
        return self.there == 0 or self.coverage >= LEAST - NOISE or self.said >= SAID * self.n

    def __str__(self) -> str:
        return f"{self.coverage:.3f}/{self.said / self.n:.2f}{'' if self.kept else '!'}"


@dataclass
class Row:
    name: str
    tallies: dict[str, Tally] = field(default_factory=dict)

    def add(self, name: str, one: Estimate, truth: float, *, warned: bool) -> None:
        self.tallies.setdefault(name, Tally()).add(one, truth, warned=warned)

    def report(self) -> list[str]:
        print(f"| {self.name} | " + " | ".join(map(str, self.tallies.values())) + " |", flush=True)
        return [f"{self.name}: {key} {one}" for key, one in self.tallies.items() if not one.kept]


def main() -> int:
    parts: dict[str, Callable[[], list[str]]] = {"profiles": profiles, "items": items, "means": means, "best": best}
    unknown = [name for name in sys.argv[1:] if name not in parts]
    if unknown:
        print(f"bench_coverage: there is no {', '.join(unknown)}; there are: {', '.join(parts)}", file=sys.stderr)
        return 2
    print(f"seed {SEED}, {TABLES} tables a design, 95 % intervals; coverage varies by {NOISE:.3f} from run to run")
    broken = [line for name in (sys.argv[1:] or parts) for line in parts[name]()]
    for line in broken:
        print(f"bench_coverage: not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def profiles() -> list[str]:
    """Coefficients of items in profiles."""
    return _table([(10, 5), (10, 15), (20, 5), (20, 15), (40, 5), (40, 15)], clustered=True)


def items() -> list[str]:
    """Coefficients of independent items."""
    return _table([(50, 1), (100, 1), (200, 1), (500, 1)], clustered=False)


def _table(sizes: Sequence[tuple[int, int]], *, clustered: bool) -> list[str]:
    print("| design | " + " | ".join(name for name, _ in KINDS) + " |")
    print("|---" * (1 + len(KINDS)) + "|")
    broken = []
    for name, (level, shares) in SHARES.items():
        population = Profiles(shares, judges=(0.8, 0.8))
        truth = _truth(population, level)
        for k, m in sizes:
            row = Row(f"{name}; {f'{k} profiles x {m}' if clustered else f'{k} items'}")
            for rng in _streams(k, m, len(shares), round(100 * max(shares))):
                profile, codes = population.draw(k, m, rng)
                _judge_table(row, _people(profile, codes, level, len(shares), clustered=clustered), codes[:, 3:], truth)
            broken += row.report()
    return broken


def _judge_table(row: Row, people: RatingTable, judges: IntArray, truth: FloatArray) -> None:
    found, resampling = _replicates(people, judges, BOOTSTRAP)
    names, scales = [name for name, _ in KINDS], [scale for _, scale in KINDS]
    usual, by_t = (
        estimates(found, resampling, [Basis(0, 0, 0)] * len(KINDS), [None] * len(KINDS), scale=scales, student=student)
        for student in (False, True)
    )
    # differences are Student's however many items there are
    each = [t if scale == "plain" else one for one, t, scale in zip(usual, by_t, scales, strict=True)]
    of_table = {one.code for one in [*table_warnings(people), *resampling_warnings(people, resampling)]} & SOUND
    for name, one, true in zip(names, each, truth.tolist(), strict=True):
        row.add(name, one, true, warned=bool(of_table or interval_warnings({name: one})))


def _replicates(people: RatingTable, judges: IntArray, bootstrap: int) -> tuple[Replicates, Resampling]:
    """The figures of `KINDS`: kappas as the level asks, unweighted or quadratic."""
    held = RatersAgainstPeople.build(people, judges, ["a", "b"], bootstrap=bootstrap, confidence=0.95, seed=SEED)
    table = held.distinct_people
    shared, alpha = replicate([chance_corrected(table), krippendorff_alpha(table)], held.resampling)
    pairs = [(a + held.n_judges, b + held.n_judges) for a, b in cohen.rater_pairs(held.people)]
    ceiling = figures.mean_over_pairs(held, pairs)
    first, second = (figures.means_over_annotators(held, judge) for judge in (0, 1))
    kappa = list(figures.MEANS).index("mean_cohen_kappa" if people.level == "nominal" else "mean_weighted_cohen_kappa")
    fleiss = NAMES.index("fleiss_kappa")
    parts = [
        (shared, fleiss),
        (alpha, 0),
        (ceiling, kappa),
        (first, kappa),
        (ceiling, kappa),
        (minus(ceiling, first), kappa),
        (minus(first, second), kappa),
    ]
    stacked = Replicates(
        np.array([part.value[i] for part, i in parts]),
        np.column_stack([part.bootstrap[:, i] for part, i in parts]),
        np.column_stack([part.left_out[:, i] for part, i in parts]),
    )
    return stacked, held.resampling


def _truth(population: Profiles, level: Level) -> FloatArray:
    """The figures of a large population, the same whether its items are drawn by profile or one by one."""
    found = []
    for number in range(POPULATIONS):
        profile, codes = population.draw(POPULATION, 1, np.random.default_rng([SEED, 1, number]))
        people = _people(profile, codes, level, len(population.shares), clustered=False)
        found.append(_replicates(people, codes[:, 3:], 1)[0].value)
    truth: FloatArray = np.mean(found, axis=0)
    return truth


def means() -> list[str]:
    """People's mean and PPI++ from few labels: shares and places on the scale, as `calibrate` gives them."""
    print("| design | labels alone | PPI++ |")
    print("|---|---|---|")
    broken = []
    for name, (_, shares) in SHARES.items():
        population = Profiles(shares, judges=(0.8,))
        truth = _true_mean(population)
        for n, rest, k in ((20, 200, 0), (50, 200, 0), (100, 400, 0), (60, 240, 20), (120, 480, 40)):
            row = Row(f"{name}; {n} labels of {n + rest}" + (f" in {k} profiles" if k else ""))
            for rng in _streams(n, rest, k, len(shares), round(100 * max(shares))):
                _corrected(row, population, (n, rest, k), truth, rng)
            broken += row.report()
    return broken


def _corrected(
    row: Row, population: Profiles, size: tuple[int, int, int], truth: float, rng: np.random.Generator
) -> None:
    n, rest, k = size
    profile, codes = population.draw(k or n + rest, (n + rest) // k if k else 1, rng)
    labelled = np.zeros(n + rest, dtype=bool)
    labelled[rng.permutation(n + rest)[:n]] = True
    columns = Columns(
        human=tuple(int(code) if known else None for code, known in zip(codes[:, 0], labelled, strict=True)),
        judge=tuple(codes[:, 3].tolist()),
        categories=tuple(range(len(population.shares))),
        level="interval",
        clusters=tuple(map(str, profile)) if k else None,
    )
    found = calibrate(columns, recalibrated=False, targets=(), bootstrap=0, seed=SEED)
    corrected = found.mean or found.by_category["1"]
    warned = bool({one.code for one in found.warnings} & {"few_labels", "rare_category", "few_effective_units"})
    for name, one in (("labels", corrected.human_only), ("ppi", corrected.ppi)):
        row.add(name, one, truth, warned=warned)


def _true_mean(population: Profiles) -> float:
    places = np.arange(float(len(population.shares)))
    return float(np.array(population.shares) @ places)


def best() -> list[str]:
    """Six equal judges: how often some interval of their differences excludes 0."""
    broken = []
    for k, m in ((10, 15), (20, 15), (40, 5), (200, 1)):
        population, wrong = Profiles((0.5, 0.5), judges=(0.8,) * 6), 0
        for rng in _streams(k, m, 6):
            profile, codes = population.draw(k, m, rng)
            people = _people(profile, codes, "nominal", 2, clustered=m > 1)
            ranked = rank_judges(people, {f"judge {j}": codes[:, 3 + j] for j in range(6)})
            wrong += any(one.low > 0 or one.high < 0 for one in ranked.differences.values())
        print(f"six equal judges, {k} profiles x {m}: some interval excludes 0 in {wrong / TABLES:.3f}", flush=True)
        if wrong / TABLES > MOST_WRONG + NOISE:
            broken.append(f"six equal judges, {k} x {m}: {wrong / TABLES:.3f}")
    return broken


def _people(profile: IntArray, codes: IntArray, level: Level, q: int, *, clustered: bool) -> RatingTable:
    items, raters = tuple(map(str, range(len(codes)))), ("r1", "r2", "r3")
    clusters = tuple(map(str, profile.tolist())) if clustered else None
    return RatingTable(codes[:, :3], tuple(range(1, q + 1)), level, items, raters, clusters=clusters)


def _streams(*key: int) -> list[np.random.Generator]:
    return [np.random.default_rng([SEED, *key, number]) for number in range(TABLES)]


if __name__ == "__main__":
    sys.exit(main())
