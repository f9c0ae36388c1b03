"""Do the promises hold? Coverage of corrected rates and of errors of scores, and broken guarantees, by simulation.

For a good, a mediocre and a useless synthetic judge: 95 % intervals have to hold the truth in 93 to 97 of 100 samples,
a PPI++ interval may be at most 1.05 times as wide as that of the labels alone, and a guarantee made with delta = 0.05
may be broken in at most that share of the samples (plus what chance adds in so many samples).

    make bench ARGS=calibration                   everything
    python scripts/bench_calibration.py size      the time alone: calibration and audit of three judges on 5,000 items
    python scripts/bench_calibration.py 400       the promises alone, with so many samples
    python scripts/bench_calibration.py errors 1000   the errors of scores alone: Brier score, absolute error, AURC, ECE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.stats.estimate import Estimate
from judging.stats.prediction_powered import LabelledSample, ppi_mean
from judging.stats.reliability import reliability
from judging.stats.risk_coverage import risk_coverage
from judging.stats.rogan_gladen import rogan_gladen
from judging.stats.selective import select

JUDGES = {"good": (0.92, 0.9), "mediocre": (0.75, 0.7), "useless": (0.5, 0.5)}
"""Sensitivity and specificity."""

AGREEMENT = {"good": (0.8, 1.0), "mediocre": (0.6, 0.98), "borderline": (0.895, 0.895), "useless": (0.5, 0.5)}
"""Agreement with people of the least and the most confident verdicts."""

LABELLED, UNLABELLED = 200, 1000
LOW, HIGH, WIDEST, DELTA = 0.93, 0.97, 1.05, 0.05
SAMPLES = 4000


def labels(rng: np.random.Generator, rate: float, judge: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    truth = (rng.random(LABELLED + UNLABELLED) < rate).astype(float)
    verdict = (rng.random(len(truth)) < np.where(truth == 1, judge[0], 1 - judge[1])).astype(float)
    truth[LABELLED:] = np.nan
    return truth, verdict


def rates(name: str, rate: float, samples: int) -> list[str]:
    """Coverage of a rate's intervals, and how wide PPI++ is beside the labels alone."""
    rng, problems = np.random.default_rng(1), []
    held, human, width, rogan, refused = 0, 0, [], 0, 0
    for _ in range(samples):
        truth, verdict = labels(rng, rate, JUDGES[name])
        found = ppi_mean(LabelledSample.from_columns(truth, verdict))
        held += found.ppi.low <= rate <= found.ppi.high
        human += found.human_only.low <= rate <= found.human_only.high
        width.append((found.ppi.high - found.ppi.low) / (found.human_only.high - found.human_only.low))
        cross = rogan_gladen(truth, verdict).rate
        refused += np.isnan(cross.low)
        rogan += cross.low <= rate <= cross.high
    given = samples - refused
    print(
        f"{name:<9} rate {rate:.1f}  PPI++ {held / samples:.3f}  labels alone {human / samples:.3f}  "
        f"width {np.mean(width):.2f} (at most {np.max(width):.3f})  "
        f"Rogan-Gladen {rogan / given if given else float('nan'):.3f} of {given / samples:.0%} given"
    )
    if not LOW <= held / samples <= HIGH:
        problems.append(f"PPI++ {name} {rate}")
    if np.max(width) > WIDEST:
        problems.append(f"width {name} {rate}")
    if given > samples / 2 and not LOW <= rogan / given <= HIGH:
        problems.append(f"Rogan-Gladen {name} {rate}")
    return problems


def means(name: str, noise: float, samples: int) -> list[str]:
    """The same for mean scores from 1 to 5, in clusters of four and with unequal inclusion probabilities."""
    rng, held, width = np.random.default_rng(2), 0, []
    # truth: half of the clusters are of a kind that is drawn three times as often, and scores one point more
    mean = 3.0
    for _ in range(samples):
        often = rng.random(300) < 0.75
        centre = np.where(often, 3.5, 2.5) + rng.normal(0, 0.5, 300)
        cluster, kind = np.repeat(np.arange(300), 4), np.repeat(often, 4)
        y = centre[cluster] + rng.normal(0, 0.7, 1200)
        f = (y - 3) * (noise < 2) + 3 + rng.normal(0.4, noise, 1200)
        y[400:] = np.nan
        data = LabelledSample.from_columns(y, f, weights=np.where(kind, 1.0, 3.0), clusters=[str(c) for c in cluster])
        found = ppi_mean(data)
        held += found.ppi.low <= mean <= found.ppi.high
        width.append((found.ppi.high - found.ppi.low) / (found.human_only.high - found.human_only.low))
    print(f"{name:<9} clustered, weighted mean  PPI++ {held / samples:.3f}  width {np.mean(width):.2f}")
    return [] if LOW <= held / samples <= HIGH else [f"mean {name}"]


def promises(name: str, accuracy: tuple[float, float], samples: int) -> list[str]:
    """How often the true agreement above the chosen threshold is below the target."""
    rng, target = np.random.default_rng(3), 0.9
    broken, given, coverage = 0, 0, []
    for _ in range(samples):
        sure = rng.random(400).round(2)
        agrees = rng.random(400) < accuracy[0] + (accuracy[1] - accuracy[0]) * sure
        found = select(sure, agrees, target=target, delta=DELTA)
        coverage.append(found.coverage.value)
        if found.guaranteed:
            given += 1
            # confidence is uniform: above t the mean of the line is its value halfway to 1
            broken += accuracy[0] + (accuracy[1] - accuracy[0]) * (found.threshold + 1) / 2 < target
    share = broken / samples
    print(
        f"{name:<9} agreement {accuracy[0]:.2f} to {accuracy[1]:.2f}  promised in {given / samples:.0%}, "
        f"broken in {share:.3f}, coverage {np.mean(coverage):.2f}"
    )
    slack = 3 * np.sqrt(DELTA * (1 - DELTA) / samples)
    return [f"selective {name}"] if share > DELTA + slack else []


def scored(
    rng: np.random.Generator, profiles: int, each: int, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray, list[str] | None]:
    """Scores of 0.05 to 0.95, labels that they overstate, by an effect of each profile where it has several items."""
    n = profiles * each
    p = (rng.integers(0, 10, n) + 0.5) / 10
    own = rng.normal(0, spread, profiles)[np.arange(n) // each] if each > 1 else 0.0
    chance = 1 / (1 + np.exp(-(0.6 * np.log(p / (1 - p)) + own)))
    return p, (rng.random(n) < chance).astype(float), [str(k // each) for k in range(n)] if each > 1 else None


ERRORS = ("brier", "mae", "aurc", "ece")


def figures(p: np.ndarray, y: np.ndarray, clusters: list[str] | None, *, bootstrap: int) -> list[Estimate]:
    """Those of `ERRORS`."""
    found = reliability(p, y, clusters=clusters, bootstrap=bootstrap)
    right = np.where(p > 0.5, y, 1 - y)
    curve = risk_coverage(np.abs(p - 0.5), right, clusters=clusters, bootstrap=bootstrap)
    return [found.brier, found.mae, curve.area, found.ece]


def errors(samples: int) -> list[str]:
    """Coverage of the errors of scores."""
    problems = []
    for profiles, each in ((60, 1), (300, 1), (10, 15), (20, 15)):
        truth = [one.value for one in figures(*scored(np.random.default_rng(4), 600_000 // each, each), bootstrap=0)]
        rng, held = np.random.default_rng(5), np.zeros(len(ERRORS))
        for _ in range(samples):
            found = figures(*scored(rng, profiles, each), bootstrap=500)
            held += [one.low <= at <= one.high for one, at in zip(found, truth, strict=True)]
        shares = dict(zip(ERRORS, (held / samples).tolist(), strict=True))
        name = f"{profiles} profiles x {each}" if each > 1 else f"{profiles} items"
        print(f"{name:<18}" + "  ".join(f"{key} {share:.3f}" for key, share in shares.items()), flush=True)
        least = LOW - 2 * np.sqrt(LOW * (1 - LOW) / samples)
        problems += [f"{key} of {name}" for key, share in shares.items() if share < least]
    return problems


def size() -> list[str]:
    """Seconds to calibrate and audit all judges, from the database to the kept results, as the study's page does.

    5,000 items, three people and three judges on a yes or no and on a scale of five, with independent items and with
    250 profiles of 20. Processor time counts where it is less: a machine that does other things has longer seconds.
    """
    import bench_report as bench  # sets Django up with a database of its own
    from django.core.management import call_command

    from judging.assessment.queries.assessment_data import StudyData
    from judging.assessment.services import assessment

    call_command("migrate", verbosity=0)
    rng, problems = np.random.default_rng(0), []
    for slug, profiles in (("independent", 0), ("clustered", 250)):
        made = bench.study(rng, [bench.ANSWERS, bench.STEPS], slug=slug, profiles=profiles)
        own = rng.normal(0, 0.5, (profiles, 2))[np.arange(bench.ITEMS) % profiles] if profiles else 0.0
        truth = rng.normal(3, 1, (bench.ITEMS, 2)) + own
        bench.label(made, truth, rng, bench.ITEMS)
        bench.judge(made, truth, rng)
        begun, used = time.perf_counter(), time.process_time()
        judges, _ = assessment.assess_judges(
            by=None, evidence=StudyData.load(made), asked=assessment.AssessmentRequest()
        )
        seconds, processor = time.perf_counter() - begun, time.process_time() - used
        print(
            f"{slug:<11} {bench.ITEMS} items x {bench.PEOPLE} people x {len(judges)} judges, yes or no and 1 to 5: "
            f"calibration and audit in {seconds:.1f} s ({processor:.1f} s of processor time); "
            f"at most {bench.MOST_SECONDS:.0f} s"
        )
        problems += [f"size {slug}"] if min(seconds, processor) > bench.MOST_SECONDS else []
    return problems


def promises_hold(samples: int) -> list[str]:
    problems = []
    for name in JUDGES:
        for rate in (0.3, 0.6):
            problems += rates(name, rate, samples)
    for name, noise in (("good", 0.4), ("mediocre", 1.2), ("useless", 3.0)):
        problems += means(name, noise, samples // 4)
    for name, accuracy in (
        ("good", (0.8, 1.0)),
        ("mediocre", (0.6, 0.98)),
        ("borderline", (0.895, 0.895)),
        ("useless", (0.5, 0.5)),
    ):
        problems += promises(name, accuracy, samples // 2)
    return problems


def main() -> int:
    start, asked = time.perf_counter(), sys.argv[1:]
    samples = next((int(word) for word in asked if word.isdigit()), SAMPLES)
    named = [word for word in asked if not word.isdigit()]
    problems = promises_hold(samples) if not named else []
    problems += errors(samples // 4 if not named else samples) if not named or "errors" in named else []
    problems += size() if not asked or "size" in named else []
    print(f"{time.perf_counter() - start:.0f} s; " + ("all hold" if not problems else f"broken: {', '.join(problems)}"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
