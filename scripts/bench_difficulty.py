"""Hold the difficulty model to simulated items of known difficulty, and time it.

    make bench ARGS=difficulty                        everything, about half an hour
    python scripts/bench_difficulty.py known 5        only what is named: known (tables a design), large,
                                                      nine (repeats of a population; see difficulty/nine.py),
                                                      reach, rankings (tables a design)

Known: 24 designs: five ordered categories with items that differ in noise by .5 and by .8 (w), two, and four unordered;
three and nine people of unequal skill and severity; 200, 600 and 2,000 items. Exits 1 where a promise is not kept:
rank correlation with the truth within .03 of what the posterior under the true parameters reaches, with w .8 at least
.6 (three people) and .8 (nine); likeliest tiers that are right as often as they say, give or take .05 and two standard
errors; 95 % intervals of severities that hold 93 to 97 %; 10,000 items x 5 people in 10 s.

Reach: the rank correlation of the posterior under the true parameters alone, which nobody can pass, by how much items
differ in noise (w), categories and people: for which designs .6 can be reached.

Rankings: 200 items of three and four responses, three and nine people. Exits 1 where intervals of difficulty hold less
than .9, or likeliest tiers are not right as often as they say.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from difficulty.nine import nine

from annotation.stats.chance_corrected import item_agreement
from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty, difficulty
from annotation.stats.difficulty.latent import LatentFit, Ratings
from annotation.stats.table import FloatArray, IntArray, Level, RatingTable
from annotation.stats.tiers import chance_agreement, item_kappas
from annotation.stats.weighting import linear_weights
from tests.support import drawing

SEED = 20260118
TABLES = 20
REPEATS = {"nine": 100, "reach": 10, "rankings": 10}
SCALES = {"ordered, w .5": 5, "ordered, w .8": 5, "two": 2, "unordered": 4}
NOISES = {"ordered, w .5": 0.5, "ordered, w .8": 0.8}
PEOPLE, SIZES = (3, 9), (200, 600, 2000)

MOST_BELOW = 0.03
LEAST = {("ordered, w .8", 3): 0.6, ("ordered, w .8", 9): 0.8}
BINS = np.array([0.3, 0.4, 0.5, 0.6, 0.65, 0.75, 0.85, 0.95, 1.0 + 1e-9])
MOST_OFF = 0.05
HELD = (0.93, 0.97)
LEAST_HELD = 0.9
MOST_SECONDS = 10.0


def main() -> int:
    parts: dict[str, Callable[[int], list[str]]] = {
        "known": known,
        "large": large,
        "nine": nine,
        "reach": reach,
        "rankings": rankings,
    }
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    named = [word for word in sys.argv[1:] if not word.isdigit()]
    if unknown := [name for name in named if name not in parts]:
        print(f"bench_difficulty: there is no {', '.join(unknown)}; there are: {', '.join(parts)}", file=sys.stderr)
        return 2
    repeats = {name: numbers[0] if numbers else REPEATS.get(name, TABLES) for name in named or parts}
    broken = [line for name, times in repeats.items() for line in parts[name](times)]
    for line in broken:
        print(f"bench_difficulty: not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


@dataclass
class Told:
    """What the tables of one design showed.

    ``reached``, ``possible`` and ``counted`` are rank correlations with the truth: of the model, of the posterior under
    the true parameters, of an item's kappa. ``said`` and ``right`` are the likeliest tiers' probabilities and whether
    they are right, ``held`` whether the interval holds each severity.
    """

    reached: list[float] = field(default_factory=list)
    possible: list[float] = field(default_factory=list)
    counted: list[float] = field(default_factory=list)
    said: list[FloatArray] = field(default_factory=list)
    right: list[FloatArray] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)


def known(tables: int) -> list[str]:
    """Simulated items of known difficulty."""
    print(f"{24 * tables} tables, seed {SEED}")
    print("scale          people  items  model  possible  kappa   held")
    told: dict[tuple[str, int], list[Told]] = {}
    for place, (scale, q) in enumerate(SCALES.items()):
        for r in PEOPLE:
            for n in SIZES:
                one = Told()
                for number in range(tables):
                    _look(one, scale, q, r, n, np.random.default_rng([SEED, place, r, n, number]))
                told.setdefault((scale, r), []).append(one)
                print(f"{scale:14} {r:6} {n:6} {_figures([one])}", flush=True)
    for (scale, r), several in told.items():
        print(f"{scale:14} {r:6}    all {_figures(several)}")
    every = [one for several in told.values() for one in several]
    return [*_correlations(told), *_stated(every), *_severities(every)]


def _figures(several: Sequence[Told]) -> str:
    reached, possible, counted = _means(several, "reached", "possible", "counted")
    held = [value for one in several for value in one.held]
    return f"{reached:6.3f} {possible:9.3f} {counted:6.3f} {np.mean(held) if held else np.nan:6.3f}"


def _means(several: Sequence[Told], *names: str) -> list[float]:
    return [float(np.mean([value for one in several for value in getattr(one, name)])) for name in names]


def _model(scale: str, r: int, rng: np.random.Generator) -> tuple[GradedResponseModel | Categories, FloatArray]:
    drawn: tuple[GradedResponseModel | Categories, FloatArray]
    if scale == "unordered":
        drawn = drawing.categories(r, SCALES[scale], rng)
    else:
        drawn = drawing.draw_graded_model(r, SCALES[scale], rng, NOISES.get(scale, 0.5))
    return drawn


def _look(told: Told, scale: str, q: int, r: int, n: int, rng: np.random.Generator) -> None:
    model, free = _model(scale, r, rng)
    codes, p = drawing.draw(model, free, n, rng)
    table = _table(codes, scale)
    credit = linear_weights(np.arange(float(q))) if scale in NOISES else np.eye(q)
    agreeing = _agreement(p.mean(axis=1).T, credit)
    best = _best(model, free, codes, credit)
    found = difficulty(table)
    for name, value in (("reached", 1 - found.value), ("possible", best), ("counted", _kappas(table))):
        getattr(told, name).append(float(scipy.stats.spearmanr(value, agreeing)[0]))
    told.said.append(found.tiers.max(axis=1))
    told.right.append((found.tiers.argmax(axis=1) == np.searchsorted(AGREEMENT_CUTS, agreeing)).astype(float))
    told.held += _held(found, model, free)


def _best(model: GradedResponseModel | Categories, free: FloatArray, codes: IntArray, credit: FloatArray) -> FloatArray:
    """(n,) expected agreement of two fresh people by the posterior under the true parameters."""
    ratings = Ratings(codes, np.ones(len(codes)), model.n_categories)
    true = LatentFit(model.finer(), ratings, free, np.eye(1), np.nan)
    return np.asarray(true.posterior @ _agreement(true.tables.p.mean(axis=0), credit))


def _agreement(fresh: FloatArray, credit: FloatArray) -> FloatArray:
    """(n,) how far two fresh people agree, from the distribution (q, n) of one's answers."""
    return np.asarray(np.einsum("kn,kl,ln->n", fresh, credit, fresh))


def _kappas(table: RatingTable) -> FloatArray:
    return item_kappas(table, chance_agreement(table, "uniform"))


def _held(found: Difficulty, model: GradedResponseModel | Categories, free: FloatArray) -> list[bool]:
    if not isinstance(model, GradedResponseModel):
        return []
    pairs = zip(found.people, model.severities(free).tolist(), strict=True)
    return [one.severity.low <= truth <= one.severity.high for one, truth in pairs]


def _table(codes: IntArray, scale: str) -> RatingTable:
    (n, r), q = codes.shape, SCALES[scale]
    level: Level = "ordinal" if scale in NOISES else "nominal"
    items, people = tuple(map(str, range(n))), tuple(f"r{j}" for j in range(r))
    return RatingTable(codes, tuple(range(1, q + 1)), level, items, people)


def _correlations(told: dict[tuple[str, int], list[Told]]) -> list[str]:
    broken = []
    for (scale, r), several in told.items():
        reached, possible = (
            float(np.mean([value for one in several for value in getattr(one, name)]))
            for name in ("reached", "possible")
        )
        if reached < possible - MOST_BELOW:
            broken.append(f"{scale}, {r} people: {reached:.3f}, and {possible:.3f} is possible")
        if reached < LEAST.get((scale, r), 0.0):
            broken.append(f"{scale}, {r} people: {reached:.3f}, not {LEAST[scale, r]}")
    return broken


def _stated(every: Sequence[Told]) -> list[str]:
    """How often the likeliest tier is right, by what it says."""
    said, right = (np.concatenate([part for one in every for part in getattr(one, name)]) for name in ("said", "right"))
    broken = []
    print("likeliest tier: says  right   items")
    for low, high in pairwise(BINS.tolist()):
        inside = (said >= low) & (said < high)
        if not inside.any():
            continue
        says, share, n = said[inside].mean(), right[inside].mean(), int(inside.sum())
        print(f"  {low:.2f} to {min(high, 1):.2f}   {says:5.3f} {share:6.3f} {n:7,}")
        if abs(says - share) > MOST_OFF + 2 * np.sqrt(0.25 / n):
            broken.append(f"tiers told {says:.2f} are right {share:.2f} of the time")
    return broken


def _severities(every: Sequence[Told]) -> list[str]:
    held = np.mean([value for one in every for value in one.held])
    print(f"intervals of {sum(len(one.held) for one in every):,} severities hold {held:.3f}")
    return [] if HELD[0] <= held <= HELD[1] else [f"intervals of severities hold {held:.3f}"]


def reach(tables: int) -> list[str]:
    """What can be reached at all on ordered scales, on 2,000 items."""
    people = (3, 4, 5, 9)
    print(f"categories    w  {'  '.join(f'{r} people' for r in people)}   ({tables} tables each, seed {SEED})")
    for q in (5, 7):
        credit = linear_weights(np.arange(float(q)))
        for w in (0.5, 0.6, 0.7, 0.8, 1.0):
            found = [_reached(q, w, r, credit, tables) for r in people]
            print(f"{q:10} {w:4.1f}  {'  '.join(f'{one:8.3f}' for one in found)}", flush=True)
    return []


def _reached(q: int, w: float, r: int, credit: FloatArray, tables: int) -> float:
    found = []
    for number in range(tables):
        rng = np.random.default_rng([SEED, q, int(10 * w), r, number])
        model, free = drawing.draw_graded_model(r, q, rng, w)
        codes, p = drawing.draw(model, free, SIZES[-1], rng)
        truth = _agreement(p.mean(axis=1).T, credit)
        found.append(float(scipy.stats.spearmanr(_best(model, free, codes, credit), truth)[0]))
    return float(np.mean(found))


def rankings(tables: int) -> list[str]:
    """Rankings with ties drawn from the model."""
    broken = []
    print(f"responses  people  model  pairs   held    says  right   ({tables} tables each, seed {SEED})")
    for names in ("ABC", "ABCD"):
        for r in PEOPLE:
            found = np.array([_ranked(names, r, number) for number in range(tables)])
            model, counted, held, says, right = found.mean(axis=0).tolist()
            print(f"{len(names):9} {r:7} {model:6.3f} {counted:6.3f} {held:6.3f} {says:7.3f} {right:6.3f}", flush=True)
            if held < LEAST_HELD or abs(says - right) > MOST_OFF + 2 * np.sqrt(0.25 / (SIZES[0] * tables)):
                broken.append(
                    f"rankings of {len(names)}, {r} people: held {held:.3f}, says {says:.3f}, right {right:.3f}"
                )
    return broken


def _ranked(names: str, r: int, number: int) -> tuple[float, ...]:
    """Rank correlations of model and counted pairs, share held, the likeliest tier's probability and if it is right."""
    texts, truth = drawing.rankings(SIZES[0], r, names, np.random.default_rng([SEED, len(names), r, number]))
    table = RatingTable.from_wide(texts, level="ranking")
    found = difficulty(table)
    counted = scipy.stats.spearmanr(1 - item_agreement(table), truth)[0]
    held = ((found.low <= truth) & (truth <= found.high)).mean()
    right = found.tiers.argmax(axis=1) == np.searchsorted(AGREEMENT_CUTS, 1 - truth)
    model = scipy.stats.spearmanr(found.value, truth)[0]
    return tuple(map(float, (model, counted, held, found.tiers.max(axis=1).mean(), right.mean())))


def large(_: int) -> list[str]:
    """10,000 items x 5 people."""
    broken = []
    for scale in SCALES:
        rng = np.random.default_rng(SEED)
        codes, _p = drawing.draw(*_model(scale, 5, rng), 10_000, rng)
        table = _table(codes, scale)
        start, busy = time.perf_counter(), time.process_time()
        difficulty(table)
        took, worked = time.perf_counter() - start, time.process_time() - busy
        print(f"10,000 items x 5 people, {scale:14} {took:6.2f} s, of the processor {worked:.2f} s")
        if worked > MOST_SECONDS:
            broken.append(f"{scale}: {worked:.1f} s of the processor")
    return broken


if __name__ == "__main__":
    sys.exit(main())
