"""Measure the statistical core: speed against a loop, memory, growth with the number of items, and coverage.

    make bench ARGS=stats                     everything, about two minutes
    python scripts/bench_stats.py speed       only what is named: speed, million, growth, coverage, annotators

Ratios compare two measurements of one run. Exits 1 where a promise is not kept: 150 times the speed of looping
`krippendorff.alpha`, 1.5 GB, a million ratings in 20 seconds, cost linear in items, and a warning beside every
interval that covers less than it says.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import krippendorff
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats.agreement import agreement
from annotation.stats.annotators import annotator_report
from annotation.stats.chance_corrected import NAMES, chance_corrected
from annotation.stats.distinct import distinct_items
from annotation.stats.intervals import compute_intervals
from annotation.stats.resampling import Replicates, Resampling, replicate
from annotation.stats.signs import annotator_signs
from annotation.stats.simulated import simulate_agreement
from annotation.stats.table import MISSING, RatingTable
from annotation.stats.warnings import table_warnings

REPLICATES = 2000
LOOPED = 40
ROUNDS = 40
SEED = 20240611

WANTED_RATIO = 150
PER_PROFILE = 15
MOST_CLUSTERED = 1.5
MOST_MEMORY = 1.5  # GB
MOST_SECONDS = 20.0
MOST_GROWTH = 1.35  # times the growth of the number of items

MOST_SIGNS = 0.5

TABLES = 1000
ITEMS, RATERS = 100, 3
NOISE = 2 * np.sqrt(0.95 * 0.05 / TABLES)
LEAST_COVERAGE = 0.93
DESIGNS = {
    "2 equal": (0.5, 0.5),
    "2, 80:20": (0.8, 0.2),
    "2, 90:10": (0.9, 0.1),
    "4 equal": (0.25, 0.25, 0.25, 0.25),
    "4, 70:10:10:10": (0.7, 0.1, 0.1, 0.1),
}


def main() -> int:
    parts: dict[str, Callable[[], list[str]]] = {
        "speed": speed,
        "million": million,
        "growth": growth,
        "coverage": coverage,
        "annotators": annotators,
    }
    if sys.argv[1:] == ["_memory"]:
        return report_memory()
    unknown = [name for name in sys.argv[1:] if name not in parts]
    if unknown:
        print(f"bench_stats: there is no {', '.join(unknown)}; there are: {', '.join(parts)}", file=sys.stderr)
        return 2
    broken = [line for name in (sys.argv[1:] or parts) for line in parts[name]()]
    for line in broken:
        print(f"bench_stats: not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def ratings(n_items: int, n_raters: int = 5, n_categories: int = 5, *, missing: float = 0.1) -> RatingTable:
    """An ordinal table of kappa .6 with missing ratings."""
    rng = np.random.default_rng(SEED)
    shares = np.full(n_categories, 1 / n_categories)
    codes = simulate_agreement(n_items, n_raters, shares=shares, kappa=0.6, rng=rng)
    codes = np.where(rng.random(codes.shape) < missing, MISSING, codes)
    items = tuple(map(str, range(n_items)))
    raters = tuple(f"r{j}" for j in range(n_raters))
    return RatingTable(codes, tuple(range(1, n_categories + 1)), "ordinal", items, raters)


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def processor_seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def speed() -> list[str]:
    """All coefficients with intervals against a loop over resamples for alpha alone."""
    table = ratings(10_000)
    found = agreement(table, bootstrap=REPLICATES)
    figures = len(found.coefficients) + 5 * (len(found.pairs) + len(found.raters)) + 2 * len(found.per_category)
    loop, ours = np.inf, np.inf
    for _ in range(ROUNDS):  # in turns, so that whatever else the machine does meets both
        loop = min(loop, seconds(lambda: loop_alpha(table, LOOPED // ROUNDS)) * REPLICATES * ROUNDS / LOOPED)
        ours = min(ours, seconds(lambda: agreement(table, bootstrap=REPLICATES)))
    memory = json.loads(
        subprocess.run([sys.executable, __file__, "_memory"], capture_output=True, text=True, check=True).stdout
    )["gigabytes"]
    ratio = loop / ours
    profiles = tuple(str(i // PER_PROFILE) for i in range(table.n_items))
    in_profiles = replace(table, clusters=profiles)
    clustered = min(seconds(lambda: agreement(in_profiles, bootstrap=REPLICATES)) for _ in range(ROUNDS))
    print(f"10,000 items x 5 raters x 5 categories, 10 % missing, {REPLICATES:,} replicates, ordinal")
    print(f"  loop over krippendorff.alpha   {loop:8.2f} s   ({LOOPED} resamples timed, scaled to {REPLICATES:,})")
    print(f"  {figures} figures, intervals of all {ours:8.3f} s   {ratio:.0f} times faster (wanted: {WANTED_RATIO})")
    longer = clustered / ours
    print(f"  the same in profiles of {PER_PROFILE}       {clustered:8.3f} s   {longer:.2f} times ({MOST_CLUSTERED})")
    print(f"  memory of that process         {memory:8.2f} GB  (allowed: {MOST_MEMORY})")
    return [
        *([f"{ratio:.0f} times faster than the loop, not {WANTED_RATIO}"] if ratio < WANTED_RATIO else []),
        *([f"clusters took {clustered / ours:.2f} times as long"] if clustered > MOST_CLUSTERED * ours else []),
        *([f"{memory:.2f} GB of memory"] if memory > MOST_MEMORY else []),
    ]


def loop_alpha(table: RatingTable, times: int) -> None:
    """What a script without this library does: draw items, call `krippendorff.alpha`, again and again."""
    rng = np.random.default_rng(SEED)
    data = np.where(table.codes == MISSING, np.nan, table.codes)
    for _ in range(times):
        drawn = data[rng.integers(0, table.n_items, table.n_items)]
        krippendorff.alpha(reliability_data=drawn.T, value_domain=np.arange(5.0), level_of_measurement="ordinal")


def report_memory() -> int:
    """Run the measured call in a process of its own and print the most memory it held."""
    import resource

    agreement(ratings(10_000), bootstrap=REPLICATES)
    print(json.dumps({"gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}))
    return 0


def million() -> list[str]:
    """A million ratings, from lists of labels to intervals."""
    table = ratings(200_000, missing=0.0)
    rows = [[str(code + 1) for code in row] for row in table.codes.tolist()]
    start = time.perf_counter()
    read = RatingTable.from_wide(rows, categories=[1, 2, 3, 4, 5], level="ordinal")
    middle = time.perf_counter()
    agreement(read, bootstrap=REPLICATES)
    end = time.perf_counter()
    print(f"1,000,000 ratings (200,000 x 5), {REPLICATES:,} replicates")
    print(f"  table from labels              {middle - start:8.2f} s")
    print(f"  everything of `agreement`      {end - middle:8.2f} s   (both together: at most {MOST_SECONDS:.0f} s)")
    return [f"a million ratings took {end - start:.1f} s"] if end - start > MOST_SECONDS else []


def growth() -> list[str]:
    """Cost against the number of items: where items repeat each other, and where hardly any two are alike."""
    broken = []
    for n_raters, sizes in ((5, (25_000, 50_000, 100_000, 200_000)), (12, (5_000, 10_000, 20_000))):
        tables = [ratings(n, n_raters) for n in sizes]
        distinct = len(distinct_items(tables[-1]).copies)
        print(f"{n_raters} raters; of {sizes[-1]:,} items {distinct:,} differ")
        took = [min(seconds(partial(agreement, table, bootstrap=500)) for _ in range(3)) for table in tables]
        for n, one in zip(sizes, took, strict=True):
            print(f"  {n:>9,} items {one:16.3f} s   {1e6 * one / n:7.1f} us per item")
        factor = (took[-1] / took[0]) / (sizes[-1] / sizes[0])
        if factor > MOST_GROWTH:
            broken.append(f"{n_raters} raters: cost grew {factor:.2f} times as fast as the number of items")
    return broken


def annotators() -> list[str]:
    """Sixty annotators, three of whom rate each item: the signs of the quality page, and the report on every pair."""
    rng = np.random.default_rng(SEED)
    table = ratings(500, 60, missing=0.0)
    three = np.argsort(np.argsort(rng.random(table.codes.shape), axis=1), axis=1) < 3
    table = table.replace_codes(np.where(three, table.codes, MISSING))
    page = min(processor_seconds(partial(annotator_signs, table, bootstrap=500)) for _ in range(3))
    pairs = processor_seconds(partial(annotator_report, table, bootstrap=500))
    print(f"60 annotators, 500 items x 3, processor time: signs {page:.2f} s, report on 1,770 pairs {pairs:.2f} s")
    return [f"the signs of 60 annotators took {page:.2f} s"] if page > MOST_SIGNS else []


@dataclass
class Tally:
    """Of the intervals of one design: how many hold the kappa, and how many come with a warning."""

    covered: int = 0
    percentile: int = 0
    without: int = 0
    warned: int = 0
    width: float = 0.0

    def add(self, replicates: Replicates, resampling: Resampling, kappa: float, *, warned: bool) -> None:
        found = compute_intervals(replicates, resampling, "coefficient")
        low, high = found.low, found.high
        ends = np.nanquantile(replicates.bootstrap[:, 0], [0.025, 0.975])
        self.without += bool(np.isnan(low[0]))
        self.covered += bool(low[0] <= kappa <= high[0])
        self.percentile += bool(ends[0] <= kappa <= ends[1])
        self.warned += warned
        self.width += float(np.nan_to_num(high[0] - low[0])) / TABLES


def coverage() -> list[str]:
    """How often 95 % intervals of Fleiss' kappa hold the kappa of the population."""
    broken = []
    print(f"coverage of 95 % intervals of Fleiss' kappa, {ITEMS} items x {RATERS} raters, {TABLES:,} tables each,")
    print(f"seed {SEED}; a coverage varies by {NOISE:.1%} from run to run")
    print("| categories | kappa | interval | percentile | mean width | warned |")
    print("|---|---|---|---|---|---|")
    for name, shares in DESIGNS.items():
        for kappa in (0.2, 0.6, 0.9):
            tally = covered(np.array(shares), kappa)
            held, percentile, warned = (n / TABLES for n in (tally.covered, tally.percentile, tally.warned))
            print(
                f"| {name} | {kappa} | {held:.1%} | {percentile:.1%} | {tally.width:.2f} | {warned:.0%} |",
                flush=True,
            )
            if held < LEAST_COVERAGE - NOISE and warned < 0.5:
                broken.append(f"{name}, kappa {kappa}: {held:.1%} covered, and a warning beside only {warned:.0%}")
    return broken


def covered(shares: np.ndarray, kappa: float) -> Tally:
    tally, place = Tally(), NAMES.index("fleiss_kappa")
    streams = np.random.SeedSequence(SEED).spawn(TABLES)
    for number, stream in enumerate(streams):
        rng = np.random.default_rng(stream)
        codes = simulate_agreement(ITEMS, RATERS, shares=shares, kappa=kappa, rng=rng)
        items, raters = tuple(map(str, range(ITEMS))), tuple(f"r{j}" for j in range(RATERS))
        table = RatingTable(codes, tuple(range(len(shares))), "nominal", items, raters)
        distinct = distinct_items(table)
        resampling = Resampling.from_table(distinct.table, bootstrap=REPLICATES, seed=number, copies=distinct.copies)
        every = replicate([chance_corrected(distinct.table)], resampling)[0]
        one = slice(place, place + 1)
        warned = {warning.code for warning in table_warnings(table)} & {"few_disagreements", "rare_categories"}
        tally.add(
            Replicates(every.value[one], every.bootstrap[:, one], every.left_out[:, one]),
            resampling,
            kappa,
            warned=bool(warned),
        )
    return tally


if __name__ == "__main__":
    sys.exit(main())
