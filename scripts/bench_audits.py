"""Power and false alarms of the audits on synthetic judges with and without planted biases; 300 items, three people.

    make bench ARGS=audits                    everything
    python scripts/bench_audits.py clean 400  what is named (clean, power, skewed; pairs, scores), and how many of each

Printed: in how many clean judges anything at all is found (at most 5 %, within the error of so many repeats), at 0.3, 1
and 2 times people's noise, with independent items and with 20 profiles of 15; how often each planted bias is found
after correction for all probes (0.9 or more with independent items and people's noise). Judge k has the seed k
(10,000 + k with a bias). Skewed: how often the mean of errors has p < .05, by the probe and by t alone; exponential
and normal errors by profile without a bias, normal ones with one of three standard errors.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats.table import FloatArray
from judging.stats.audits.battery import Audit, correct, probe_pairs, probe_scores
from judging.stats.audits.design import SamplingDesign
from judging.stats.audits.probe import mean_probe
from tests.support.planted import (
    CLEAN,
    ON_PAIRS,
    ON_SCORES,
    Planted,
    PlantedDesign,
    find_planted,
    plant_pairs,
    plant_scores,
)

POWER, FALSE_ALARMS = 0.9, 0.05
TIMES = 400
PROFILES = ([15] * 6, [15] * 8, [15] * 12, [15] * 20, [40, 20, 10, 8, 6, 4], [60, 30, 15, *[5] * 9])
DESIGNS = [PlantedDesign(noise=noise, per_profile=k) for k in (1, 15) for noise in (0.3, 1.0, 2.0)]


def pairs(bias: Planted, design: PlantedDesign, seed: int) -> Audit:
    return correct({"": probe_pairs(plant_pairs(bias, design=design, seed=seed))})[""]


def scores(bias: Planted, design: PlantedDesign, seed: int) -> Audit:
    return correct({"": probe_scores(plant_scores(bias, design=design, seed=seed))})[""]


AUDITS: dict[str, tuple[Callable[[Planted, PlantedDesign, int], Audit], tuple[str, ...]]] = {
    "pairs": (pairs, ON_PAIRS),
    "scores": (scores, ON_SCORES),
}


def described(design: PlantedDesign) -> str:
    items = f"{design.n // design.per_profile} profiles x {design.per_profile}" if design.clusters else "independent"
    return f"noise {design.noise:g}, {items}"


def clean(kinds: Sequence[str], times: int) -> int:
    """Accusations of clean judges; how many designs have more than chance explains."""
    broken = 0
    most = FALSE_ALARMS + 2 * np.sqrt(FALSE_ALARMS * (1 - FALSE_ALARMS) / times)
    for kind in kinds:
        audit, _ = AUDITS[kind]
        for design in DESIGNS:
            accused = [audit(CLEAN, design, seed).found for seed in range(times)]
            rate = sum(map(bool, accused)) / times
            broken += rate > most
            names = dict(Counter(name for found in accused for name in found))
            print(f"{kind:<7} {described(design):<32} accused {rate:.3f} of {times} clean judges: {names}", flush=True)
    return broken


def power(kinds: Sequence[str], times: int) -> int:
    """How often each stated bias is found; how many are found too seldom with independent items and people's noise."""
    broken = 0
    for kind in kinds:
        audit, names = AUDITS[kind]
        for design in (PlantedDesign(), PlantedDesign(per_profile=15)):
            for name in names:
                bias = find_planted(name, paired=kind == "pairs")
                found = sum(name in audit(bias, design, 10_000 + seed).found for seed in range(times)) / times
                broken += design.clusters is None and found < POWER
                print(f"{kind:<7} {described(design):<32} {name:<20} power {found:.3f} at {sizes(bias)}", flush=True)
    return broken


def skewed(_: Sequence[str], times: int) -> int:
    """False alarms of a mean with exponential and normal errors by profile, and its power; none is required."""
    for counts in PROFILES:
        design = SamplingDesign(clusters=np.repeat(np.arange(len(counts)), counts).astype(str).tolist())
        for name in ("exponential", "normal", "biased"):
            rng = np.random.default_rng(0)
            errors = [draw_errors(counts, rng, name) for _ in range(times)]
            probe, alone = np.mean([find_bias(one, design) for one in errors], axis=0)
            print(f"skewed  profiles of {counts!s:<45} {name:<11} {probe:.3f}, by t alone {alone:.3f}", flush=True)
    return 0


def draw_errors(counts: Sequence[int], rng: np.random.Generator, kind: str) -> FloatArray:
    """Errors of items and of their profiles: exponential or normal ones of mean 0, or normal ones of 3 errors."""
    g, n = len(counts), sum(counts)
    of_profile = rng.exponential(size=g) - 1 if kind == "exponential" else rng.normal(size=g)
    of_profile += 3 * np.sqrt(1 / g + 1 / n) if kind == "biased" else 0
    return np.asarray(np.repeat(of_profile, counts) + rng.normal(size=n))


def find_bias(errors: FloatArray, design: SamplingDesign) -> tuple[bool, bool]:
    """Whether the mean has p < .05 by the probe, and by t alone."""
    value, se, df, _ = design.estimate_mean(errors)
    alone = 2 * scipy.special.stdtr(df, -abs(value / se))
    return mean_probe("", errors, unit="", design=design).p_value < FALSE_ALARMS, bool(alone < FALSE_ALARMS)


def sizes(bias: Planted) -> str:
    """The sizes of the planted biases, without those that are not there."""
    return ", ".join(f"{name} {size:g}" for name, size in asdict(bias).items() if size)


def main() -> int:
    parts: dict[str, Callable[[Sequence[str], int], int]] = {"clean": clean, "power": power, "skewed": skewed}
    named = [name for name in sys.argv[1:] if not name.isdigit()]
    times = next((int(name) for name in sys.argv[1:] if name.isdigit()), TIMES)
    if unknown := [name for name in named if name not in parts | AUDITS]:
        print(
            f"bench_audits: there is no {', '.join(unknown)}; there are: {', '.join(parts | AUDITS)}", file=sys.stderr
        )
        return 2
    kinds = [name for name in AUDITS if name in named] or list(AUDITS)
    start = time.perf_counter()
    broken = sum(parts[name](kinds, times) for name in [name for name in parts if name in named] or parts)
    print(f"{time.perf_counter() - start:.0f} s; {broken or 'no'} requirements not met")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
